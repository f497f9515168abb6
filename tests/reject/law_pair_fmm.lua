-- expect: 65 law_pair_fmm.lua:5: gravity.solver: "fmm" is for gravity, and pair_force replaces it: expected "direct" or "auto"
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  pair_force = function(r2) return 1 end, gravity = { solver = "fmm" },
  integrate = { dt = 1/64, t_end = 1 },
}
