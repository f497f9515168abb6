-- expect: 65 bodies: the force on body 0 (from 0) at {1e-05, 0, 0}, or its rate, exceeds the range of double precision; the heaviest body is 1 of mass 1e+300
return sim.nbody {
  bodies    = { { mass = 1, position = {1e-5, 0, 0} }, { mass = 1e300 } },
  integrate = { dt = 1, t_end = 2 },
}
