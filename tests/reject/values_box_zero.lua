-- expect: 65 values_box_zero.lua:4: box.size: expected a number above 0, got 0
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, position = {0.5, 0, 0} } },
  box       = { size = 0 },
  integrate = { scheme = "leapfrog", dt = 1/64, t_end = 1 },
}
