-- expect: 65 transfer: expected fields without fluctuation
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01, fluctuation = 0.1 } },
  rates     = function(u) return -u end,
  transfer  = 4,
  integrate = { scheme = "etd1", dt = 0.1, t_end = 1 },
}
