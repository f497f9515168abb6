-- expect: 65 forcing.k: u has no wavenumber from 7.5 to 7.6 on this grid with dealias
return sim.diffusion {
  grid      = { n = {16, 16}, size = {2 * math.pi, 2 * math.pi} },
  fields    = { { name = "u", D = 0.01, initial = 1 }, { name = "v", D = 0.01 } },
  rates     = function(u, v) return -u, -v end,
  forcing   = { fields = "u", k = {7.5, 7.6}, power = 1 },
  integrate = { scheme = "etdrk2", dt = 0.01, t_end = 1, dealias = true },
}
