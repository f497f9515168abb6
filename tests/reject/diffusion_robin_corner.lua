-- expect: 65 fields[1].sides: expected the same value at all walls (g/a of robin), because walls with values meet in a corner
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, sides = { x_low = { robin = { a = 2, g = 2 } }, y_low = { value = 2 } } },
  },
  integrate = { t_end = 1 },
}
