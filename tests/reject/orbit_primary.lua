-- expect: 65 orbit_primary.lua:3: bodies[2].orbit: expected a primary listed before this body, got "son"
return sim.nbody {
  bodies    = { { species = "sun", mass = 1 }, { mass = 1, orbit = { a = 1, primary = "son" } } },
  integrate = { dt = 0.01, t_end = 1 },
}
