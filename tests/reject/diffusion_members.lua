-- expect: 65 members: expected 1, because the grid has three axes, got 4
return sim.diffusion {
  members   = 4,
  grid      = { n = {8, 8, 8}, size = {1, 1, 1} },
  fields    = { { name = "u", D = 0.01 } },
  integrate = { t_end = 1 },
}
