-- expect: 65 whfast_softening.lua:4: gravity.softening: expected 0 with whfast, which moves bodies along Kepler orbits, got 0.1
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1e-3, position = {1, 0, 0}, velocity = {0, 1, 0} } },
  gravity   = { softening = 0.1 },
  integrate = { scheme = "whfast", dt = 0.1, t_end = 1 },
}
