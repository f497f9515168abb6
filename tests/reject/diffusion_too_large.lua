-- expect: 71 transformed fields
return sim.diffusion {
  grid      = { n = {65536, 65536, 65536}, size = {1, 1, 1} },
  fields    = { { name = "u", D = 0.01 } },
  integrate = { t_end = 1 },
}
