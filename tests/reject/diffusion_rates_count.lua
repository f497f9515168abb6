-- expect: 65 rates
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 1, initial = 1 }, { name = "v" } },
  rates     = function(u, v) return u * v end,
  integrate = { scheme = "etdrk2", dt = 0.01, t_end = 1 },
}
