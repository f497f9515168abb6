-- expect: 65 slices_no_grid.lua:6: output.slices: need a grid, and nbody has none
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
  output    = { slices = { { name = "a", z = 0, when = "ends" } } },
}
