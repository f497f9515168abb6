-- expect: 65 fields[1].sides.x_low: robin: expected a and b above 0, got b = 0: then value says the same
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, sides = { x_low = { robin = { a = 1, b = 0 } } } },
  },
  integrate = { t_end = 1 },
}
