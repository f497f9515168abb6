-- expect: 65 derived.p: expected a function without member, because walls of u have a value or slope that is not 0
return sim.diffusion {
  members   = 2,
  grid      = { n = {16}, size = {1}, boundary = "fixed" },
  fields    = { { name = "u", D = 0.01, walls = {0, 1} } },
  derived   = { p = function(k2, member, u) return u/(1 + member*k2) end },
  rates     = function(u, p) return -u*p end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
