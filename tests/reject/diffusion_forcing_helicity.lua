-- expect: 65 forcing.helicity: has no effect: forcing is not random
return sim.diffusion {
  grid      = { n = {16}, size = {2 * math.pi} },
  fields    = { { name = "u", D = 0.01, initial = 1, noise = 1 } },
  rates     = function(u) return -u end,
  forcing   = { fields = "u", k = {1, 2}, power = 1, helicity = 0.5 },
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
