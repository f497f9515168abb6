-- expect: 65 derived.p: the coefficient of u is not finite at k = {0, 25.1327, 0}
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  derived   = { p = function(kx, u) return u / kx^2 end },
  rates     = function(u, p) return -u * p end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
