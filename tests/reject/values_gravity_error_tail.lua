-- expect: 65 values_gravity_error_tail.lua:5: gravity.error_tail: expected a number in [0.0003, 1], got 0
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  gravity   = { error_tail = 0 },
  integrate = { dt = 1/64, t_end = 1 },
}
