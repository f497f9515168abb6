-- expect: 65 integrate.dt: expected a number, because there is lyapunov
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  rates     = function(u) return -u end,
  lyapunov  = { every = 0.1 },
  integrate = { scheme = "etdrk4", t_end = 1 },
}
