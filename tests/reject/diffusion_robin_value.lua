-- expect: 65 fields[1].sides.x_low: expected one of value, slope and robin, got several
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, sides = { x_low = { value = 1, robin = { a = 1 } } } },
  },
  integrate = { t_end = 1 },
}
