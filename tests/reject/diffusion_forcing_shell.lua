-- expect: 65 forcing.k: expected {low, high} with 0 < low <= high, got {3, 2}
return sim.diffusion {
  grid      = { n = {16, 16}, size = {2 * math.pi, 2 * math.pi} },
  fields    = { { name = "u", D = 0.01, initial = 1 }, { name = "v", D = 0.01 } },
  rates     = function(u, v) return -u, -v end,
  forcing   = { fields = "u", k = {3, 2}, power = 1 },
  integrate = { scheme = "etdrk2", dt = 0.01, t_end = 1 },
}
