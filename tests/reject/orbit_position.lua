-- expect: 65 orbit_position.lua:3: bodies[2].orbit: has position and velocity: expected either these or the orbit
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0}, orbit = { a = 1 } } },
  integrate = { dt = 0.01, t_end = 1 },
}
