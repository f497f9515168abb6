-- expect: 65 few_precision.lua:3: precision: expected "double" with ias15, got "mixed"
return sim.nbody {
  precision = "mixed",
  bodies    = { { mass = 1 }, { mass = 1e-3, position = {1, 0, 0}, velocity = {0, 1, 0} } },
  integrate = { scheme = "ias15", dt = "adaptive", t_end = 1 },
}
