-- expect: 65 orbit_first.lua:3: bodies[1].orbit: expected a primary listed before this body, got "all"
return sim.nbody {
  bodies    = { { mass = 1, orbit = { a = 1 } }, { mass = 1, position = {1, 0, 0} } },
  integrate = { dt = 0.01, t_end = 1 },
}
