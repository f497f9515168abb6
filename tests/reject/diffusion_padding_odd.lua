-- expect: 65 integrate.dealias: padding: expected an even number of cells along y, 3/2 of which is below 2^24, got 15
return sim.diffusion {
  grid      = { n = {16, 15}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01 } },
  rates     = function(u) return -u^2 end,
  integrate = { scheme = "etd1", dt = 0.1, t_end = 1, dealias = "padding" },
}
