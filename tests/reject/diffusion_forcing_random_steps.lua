-- expect: 65 integrate.dt: expected a number, because forcing is random
return sim.diffusion {
  grid       = { n = {16, 16}, size = {6.28, 6.28} },
  solenoidal = "u, v",
  fields     = { { name = "u", D = 0.01 }, { name = "v", D = 0.01 } },
  rates      = function(u, v) return -u, -v end,
  forcing    = { fields = "u, v", k = {1, 2}, power = 1, random = true },
  integrate  = { scheme = "etdrk4", dt = "auto", courant = 0.5, t_end = 1 },
}
