-- expect: 65 fields[1].sides: expected the same value at all walls, because walls with values meet in a corner
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, sides = { x_low = { value = 1 }, y_low = { value = 0 } } },
  },
  integrate = { t_end = 1 },
}
