-- expect: 65 orbit_primary_mass.lua: bodies: the primary "all" of the orbit of "stars" has no mass
return sim.nbody {
  bodies    = { { species = "dust", mass = 0 }, { mass = 1, orbit = { a = 1 } } },
  integrate = { dt = 0.01, t_end = 1 },
}
