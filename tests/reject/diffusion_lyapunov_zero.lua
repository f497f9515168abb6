-- expect: 65 lyapunov: the fields are 0 at the start
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01 } },
  rates     = function(u) return 1 - u end,
  lyapunov  = { every = 0.1 },
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
