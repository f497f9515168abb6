-- expect: 65 keys_constructor_nil.lua:3: sim.plummer expects one table, got nil
return sim.nbody {
  bodies    = { sim.plummer(nil) },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
