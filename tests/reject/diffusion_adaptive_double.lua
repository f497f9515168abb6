-- expect: 65 integrate.rtol = 1e-17, atol = 0: expected at least 1.8e-15 of u
return sim.diffusion {
  grid      = { n = {20}, size = {1} },
  fields    = { { name = "u", D = 1, initial = 1 } },
  rates     = function(u) return -u end,
  integrate = { scheme = "strang", rtol = 1e-17, atol = 0, t_end = 1 },
}
