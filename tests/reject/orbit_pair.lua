-- expect: 65 orbit_pair.lua:3: bodies[2].orbit: is one under gravity, which pair replaces
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, orbit = { a = 1 } } },
  pair      = 0,
  integrate = { dt = 0.01, t_end = 1 },
}
