-- expect: 65 compute both in fp32
return sim.nbody {
  precision = "mixed",
  bodies    = { { mass = 1e30, position = {0, 0, 0} }, { mass = 1, position = {1e13, 0, 0} } },
  pair      = function(r2) return -6.67e-11 / math.sqrt(r2) end,
  integrate = { dt = 1e5, t_end = 1e6 },
}
