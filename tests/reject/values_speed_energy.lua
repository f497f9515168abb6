-- expect: 65 bodies: the kinetic energy exceeds the range of double precision; the fastest body is 1 (from 0) with a speed of 1e+180
return sim.nbody {
  bodies    = { { mass = 1, position = {1, 0, 0} }, { mass = 2, velocity = {0, 1e180, 0} } },
  integrate = { dt = 1, t_end = 2 },
}
