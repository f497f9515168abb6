-- expect: 65 fields[1].sides.y_low: y is no axis of the grid
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, sides = { y_low = { value = 1 } } },
  },
  integrate = { t_end = 1 },
}
