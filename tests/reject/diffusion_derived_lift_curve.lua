-- expect: 65 derived.p: expected a coefficient of u with a second derivative at k = 0, because slopes at walls of u differ
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = { { name = "u", D = 0.01, sides = { x_low = { slope = 1 } } } },
  derived   = { p = function(k2, u) return math.sqrt(k2)*u end },
  rates     = function(u, p) return -u*p end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
