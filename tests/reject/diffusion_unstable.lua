-- expect: 65 integrate.dt: 0.05 is too long for etdrk2
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, initial = function(x) return 1 + 0.1 * math.cos(2 * math.pi * x) end } },
  rates     = function(u) return 50 * (1 - u) end,
  integrate = { scheme = "etdrk2", dt = 0.05, t_end = 1 },
}
