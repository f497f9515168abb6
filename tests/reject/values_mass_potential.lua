-- expect: 65 bodies: the potential energy is not finite; the heaviest body is 1 (from 0) of mass 2e+200
return sim.nbody {
  bodies    = { { mass = 1e200, position = {1, 0, 0} }, { mass = 2e200 } },
  integrate = { dt = 1, t_end = 2 },
}
