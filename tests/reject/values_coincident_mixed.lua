-- expect: 65 bodies: 0 and 1 (ids, from 0) are 1 apart at {100000000, 0, 0}, and one point in the pair terms' single precision
return sim.nbody {
  precision = "mixed",
  bodies    = { { mass = 1, position = {1e8, 0, 0} }, { mass = 1, position = {1e8 + 1, 0, 0} }, { mass = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { dt = 0.01, t_end = 1 },
}
