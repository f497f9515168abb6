-- expect: 65 integrate.rtol = 3e-07, atol = 1e-08: expected at least 9.5e-07 of u
return sim.diffusion {
  precision = "single",
  grid      = { n = {24}, size = {3} },
  fields    = { { name = "u", D = 0.1, initial = function(x) return 2 + math.sin(2 * math.pi * x / 3) end } },
  rates     = function(u, t) return math.exp(-4 * t) * u * (1 - u) end,
  integrate = { scheme = "strang", rtol = 3e-7, t_end = 2 },
}
