-- expect: 65 values_solver_name.lua:5: gravity.solver: expected one of "auto", "direct", "fmm", got the string "tree"
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  gravity   = { solver = "tree" },
  integrate = { dt = 1/64, t_end = 1 },
}
