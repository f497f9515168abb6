-- expect: 65 values_solver_hermite4.lua:5: gravity.solver: "fmm" gives no time derivative of the force, which hermite4 needs: expected "direct" or "auto", or integrate.scheme = "leapfrog" or "yoshida4"
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  gravity   = { solver = "fmm" },
  integrate = { scheme = "hermite4", dt = 1/64, t_end = 1 },
}
