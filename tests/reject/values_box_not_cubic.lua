-- expect: 65 values_box_not_cubic.lua:4: box.size: expected a number, got a list of 3
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, position = {0.5, 0, 0} } },
  box       = { size = {1, 1, 2} },
  integrate = { scheme = "leapfrog", dt = 1/64, t_end = 1 },
}
