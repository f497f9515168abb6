-- expect: 65 values_error_tail_hermite4.lua:5: gravity.error_tail: has no effect: hermite4 takes direct sums, which are exact to rounding
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  gravity   = { error_tail = 1e-2 },
  integrate = { scheme = "hermite4", dt = 1/64, t_end = 1 },
}
