-- expect: 65 derived.p: the coefficient of u is not finite at k = {1.570
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1}, boundary = "no_flux" },
  fields    = { { name = "u", D = 0.01, initial = 1, sides = { x_low = { value = 0 } } } },
  derived   = { p = function(k2, u) return u / (k2 - (math.pi / 2)^2) end },
  rates     = function(u, p) return -u * p end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
