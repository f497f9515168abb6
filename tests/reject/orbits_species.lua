-- expect: 65 orbits_species.lua:4: orbits: expected a species of `bodies`, the primary of the orbits, got "earth"
return sim.nbody {
  bodies    = { { species = "sun", mass = 1 }, { species = "moon", mass = 1, orbit = { a = 1 } } },
  orbits    = "earth",
  integrate = { dt = 0.01, t_end = 1 },
}
