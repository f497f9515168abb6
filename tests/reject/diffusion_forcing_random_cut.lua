-- expect: 65 forcing.k: expected wavenumbers below the highest one along x that dealias keeps, because forcing is random, got 6
return sim.diffusion {
  grid      = { n = {16}, size = {2 * math.pi} },
  fields    = { { name = "u", D = 0.01 } },
  rates     = function(u) return -u end,
  forcing   = { fields = "u", k = {1, 6}, power = 1, random = true },
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1, dealias = true },
}
