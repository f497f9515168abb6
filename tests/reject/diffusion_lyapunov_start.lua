-- expect: 65 lyapunov.every: expected an interval between start = 0.2 and t_end = 1.1, got 0.6: intervals begin at its multiples
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  rates     = function(u) return -u end,
  lyapunov  = { every = 0.6, start = 0.2 },
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1.1 },
}
