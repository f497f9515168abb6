-- expect: 65 the rate of u is
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 1, initial = 0 } },
  rates     = function(u) return math.log(u) end,
  integrate = { scheme = "etdrk2", dt = 0.01, t_end = 1 },
}
