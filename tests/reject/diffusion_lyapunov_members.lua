-- expect: 65 members: expected 1, because there is lyapunov
return sim.diffusion {
  members   = 4,
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  rates     = function(u) return -u end,
  lyapunov  = { every = 0.1 },
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
