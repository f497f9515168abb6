-- expect: 65 few_fmm.lua:4: gravity.solver: expected "direct" or "auto" with ias15, got "fmm"
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1e-3, position = {1, 0, 0}, velocity = {0, 1, 0} } },
  gravity   = { solver = "fmm" },
  integrate = { scheme = "ias15", dt = "adaptive", t_end = 1 },
}
