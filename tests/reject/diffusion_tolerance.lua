-- expect: 65 integrate.atol: has no effect: dt is a number
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01 } },
  rates     = function(u) return u end,
  integrate = { scheme = "etdrk4", dt = 0.1, t_end = 1, atol = 1e-8 },
}
