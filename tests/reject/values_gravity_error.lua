-- expect: 65 values_gravity_error.lua:5: gravity.error: expected a number in [1e-06, 0.01], got 1e-09
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  gravity   = { error = 1e-9 },
  integrate = { dt = 1/64, t_end = 1 },
}
