-- expect: 65 fields[1].walls: expected {0, 0} beside sides, which take values too
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "fixed" },
  fields    = {
    { name = "u", D = 1, walls = {1, 2}, sides = { x_low = { value = 1 } } },
  },
  integrate = { t_end = 1 },
}
