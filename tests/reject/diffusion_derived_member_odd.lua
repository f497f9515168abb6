-- expect: 65 derived.p: expected a first result that is the same at k and -k, and a second one that changes its sign, as a real field has (member 2)
return sim.diffusion {
  members   = 3,
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  derived   = { p = function(kx, u, member) return u * sim.where(sim.gt(member, 1), kx, 1) end },
  rates     = function(u, p) return -u * p end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
