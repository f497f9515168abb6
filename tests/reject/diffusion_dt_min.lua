-- expect: 65 integrate.dt_min: expected a power of two between it and dt_max (t_end/64 without), got 0.3
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  rates     = function(u) return -u end,
  integrate = { scheme = "etdrk4", dt_min = 0.3, dt_max = 0.4, t_end = 10 },
}
