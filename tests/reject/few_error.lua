-- expect: 65 few_error.lua:4: gravity.error: has no effect: ias15 and whfast take direct sums, which are exact to rounding
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1e-3, position = {1, 0, 0}, velocity = {0, 1, 0} } },
  gravity   = { error = 1e-4 },
  integrate = { scheme = "ias15", dt = "adaptive", t_end = 1 },
}
