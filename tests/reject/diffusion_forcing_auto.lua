-- expect: 65 integrate.dt: expected a number, or "auto" with courant, because there is forcing
return sim.diffusion {
  grid      = { n = {16, 16}, size = {2 * math.pi, 2 * math.pi} },
  fields    = { { name = "u", D = 0.01, initial = 1 }, { name = "v", D = 0.01 } },
  rates     = function(u, v) return -u, -v end,
  forcing   = { fields = "u", k = {1, 2}, power = 1 },
  integrate = { scheme = "etdrk4", t_end = 1 },
}
