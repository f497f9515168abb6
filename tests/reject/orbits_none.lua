-- expect: 65 orbits_none.lua:4: orbits: expected 1 to 10 single bodies with a species of their own beside the primary, got 0
return sim.nbody {
  bodies    = { { species = "sun", mass = 1 }, { mass = 1, orbit = { a = 1 } }, { mass = 1, orbit = { a = 2 } } },
  orbits    = "sun",
  integrate = { dt = 0.01, t_end = 1 },
}
