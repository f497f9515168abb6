-- expect: 65 diffusion_dealias_range.lua:6: integrate.dealias: expected a number in [0, 1], got 1.5
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01 } },
  rates     = function(u) return -u end,
  integrate = { scheme = "etd1", dt = 0.1, t_end = 1, dealias = 1.5 },
}
