-- expect: 65 grid.size
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1} },
  fields    = { { name = "u", D = 1 } },
  integrate = { t_end = 1 },
}
