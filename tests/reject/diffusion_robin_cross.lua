-- expect: 65 fields: expected the same kinds of walls for all fields, because there is cross diffusion
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, cross = {0, 0.1}, sides = { x_low = { robin = { a = 1 } } } },
    { name = "v", D = 1, sides = { x_low = { robin = { a = 2 } } } },
  },
  integrate = { t_end = 1 },
}
