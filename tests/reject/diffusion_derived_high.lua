-- expect: 65 derived.p: expected a first result that is the same at k and -k
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  derived   = { p = function(kx, u) return sim.where(sim.gt(kx, 38), u, 0) end },
  rates     = function(u, p) return -u * p end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
