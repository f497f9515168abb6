-- expect: 65 forcing.k: u has no wavenumber from 1.1 to 1.3 on this grid
return sim.diffusion {
  grid      = { n = {16, 16}, size = {2 * math.pi, 2 * math.pi} },
  fields    = { { name = "u", D = 0.01, initial = 1 }, { name = "v", D = 0.01 } },
  rates     = function(u, v) return -u, -v end,
  forcing   = { fields = "u", k = {1.1, 1.3}, power = 1 },
  integrate = { scheme = "etdrk2", dt = 0.01, t_end = 1 },
}
