-- expect: 65 values_box_no_size.lua:4: box.size: missing: edge of the cube, which reaches from {0, 0, 0} to {size, size, size}
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, position = {0.5, 0, 0} } },
  box       = { boundary = "periodic" },
  integrate = { scheme = "leapfrog", dt = 1/64, t_end = 1 },
}
