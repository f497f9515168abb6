-- expect: 65 fields[1].sides.x_low: robin: expected a and b above 0, got a = 0: then slope says the same
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, sides = { x_low = { robin = { a = 0, g = 1 } } } },
  },
  integrate = { t_end = 1 },
}
