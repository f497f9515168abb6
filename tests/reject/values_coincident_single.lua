-- expect: 65 bodies: 0 and 1 (ids, from 0) are 1 apart at {100000000, 0, 0}, and one point in single precision, where numbers near 1e+08 are 8 apart
return sim.nbody {
  precision = "single",
  bodies    = { { mass = 1, position = {1e8, 0, 0} }, { mass = 1, position = {1e8 + 1, 0, 0} } },
  gravity   = { softening = 0.1 },
  integrate = { dt = 0.01, t_end = 1 },
}
