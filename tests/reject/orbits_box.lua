-- expect: 65 orbits_box.lua:5: orbits: expected gravity in open space, without pair, pair_force, box and expansion
return sim.nbody {
  bodies    = { { species = "sun", mass = 1 }, { species = "moon", mass = 1, position = {1, 1, 1} } },
  box       = { size = 4 },
  orbits    = "sun",
  integrate = { dt = 0.01, t_end = 1 },
}
