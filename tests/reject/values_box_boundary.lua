-- expect: 65 values_box_boundary.lua:4: box.boundary: expected one of "periodic", got the string "wall"
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, position = {0.5, 0, 0} } },
  box       = { size = 1, boundary = "wall" },
  integrate = { scheme = "leapfrog", dt = 1/64, t_end = 1 },
}
