-- expect: 65 derived.p: expected a function that is linear in the fields (member 3)
return sim.diffusion {
  members   = 3,
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  derived   = { p = function(u, member) return u + sim.where(sim.gt(member, 2), 3, 0) end },
  rates     = function(u, p) return -u * p end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
