-- expect: 65 derived.p: expected a coefficient of u that is finite and continuous at k = 0, because walls of u have a value or slope that is not 0
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "fixed" },
  fields    = { { name = "u", D = 0.01, walls = {0, 1} } },
  derived   = { p = function(k2, u) return sim.where(sim.gt(k2, 0), u/k2, 0) end },
  rates     = function(u, p) return -u * p end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
