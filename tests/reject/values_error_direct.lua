-- expect: 65 values_error_direct.lua:5: gravity.error: has no effect: direct sums are exact to rounding
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  gravity   = { solver = "direct", error = 1e-3 },
  integrate = { dt = 1/64, t_end = 1 },
}
