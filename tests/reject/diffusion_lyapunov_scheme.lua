-- expect: 65 integrate.scheme: expected etd1, etdrk2 or etdrk4, because there is lyapunov, got strang
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  rates     = function(u) return -u end,
  lyapunov  = { every = 0.1 },
  integrate = { scheme = "strang", dt = 0.01, t_end = 1 },
}
