-- expect: 65 expansion_no_box.lua:4: expansion: expected box = { size, boundary = "periodic" } beside it, got no box
-- lines: 2
return sim.nbody {
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8 } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, t_end = 1 },
}
