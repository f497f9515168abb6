-- expect: 65 flux: expected no flux beside conserved fields
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, conserved = true } },
  flux      = function(u) return u, u end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
