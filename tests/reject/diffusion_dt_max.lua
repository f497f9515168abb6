-- expect: 65 integrate.dt_max: has no effect: dt is a number
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  rates     = function(u) return -u end,
  integrate = { scheme = "etdrk4", dt = 0.1, dt_max = 0.4, t_end = 10 },
}
