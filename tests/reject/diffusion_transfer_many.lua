-- expect: 65 transfer: expected at most 800 values in a row, got 401 bins of 2 fields
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01 }, { name = "v", D = 0.01 } },
  rates     = function(u, v) return -u, -v end,
  transfer  = 401,
  integrate = { scheme = "etd1", dt = 0.1, t_end = 1 },
}
