-- expect: 65 fields[1].sides: expected value = 0, slope = 0 and g = 0 beside decay, which must be part of the rates
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, decay = 1, sides = { x_low = { robin = { a = 1, g = 2 } } } },
  },
  integrate = { t_end = 1 },
}
