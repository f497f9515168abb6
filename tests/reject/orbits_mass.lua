-- expect: 65 orbits_mass.lua: orbits: expected a species with mass, got "sun" without
return sim.nbody {
  bodies    = { { species = "sun", mass = 0 }, { species = "moon", mass = 1, position = {1, 0, 0} } },
  orbits    = "sun",
  integrate = { scheme = "ias15", dt = "adaptive", t_end = 1 },
}
