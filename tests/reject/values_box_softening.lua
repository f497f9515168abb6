-- expect: 65 values_box_softening.lua:5: gravity.softening: expected at most an eighth of box.size, 0.125, got 0.2
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, position = {0.5, 0, 0} } },
  box       = { size = 1 },
  gravity   = { softening = 0.2 },
  integrate = { scheme = "leapfrog", dt = 1/64, t_end = 1 },
}
