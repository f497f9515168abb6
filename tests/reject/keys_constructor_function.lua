-- expect: 65 5: observe.most: expected function(
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01 } },
  observe   = { most = sim.diffusion { function(u) return u end, reduce = "max" } },
  integrate = { t_end = 1 },
}
