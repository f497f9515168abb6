-- expect: 65 keys_all_faults.lua:5: gravity.sofening: unknown key
-- lines: 3
return sim.nbody {
  bodies    = { sim.plummer { n = 1.5, mass = "heavy", radius = 1 } },
  gravity   = { G = 1, sofening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
