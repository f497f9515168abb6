-- expect: 65 integrate.scheme
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 1, initial = 0 } },
  rates     = function(u) return u end,
  integrate = { scheme = "exact", dt = 0.01, t_end = 1 },
}
