-- expect: 65 shift_no_cutoff.lua:4: shift: has no effect without cutoff
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, position = {0.5, 0, 0} } },
  shift     = "none",
  integrate = { dt = 1/64, t_end = 1 },
}
