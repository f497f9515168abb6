-- expect: 65 whfast_central.lua: integrate.scheme: whfast needs a central body with 10 times the mass of all others together, but body 0 (from 0), the heaviest, has 1, and the others 0.5: take "ias15"
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 0.5, position = {1, 0, 0} } },
  integrate = { scheme = "whfast", dt = 0.1, t_end = 1 },
}
