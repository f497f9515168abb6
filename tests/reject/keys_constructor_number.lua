-- expect: 65 keys_constructor_number.lua:3: sim.plummer expects one table, got a number
return sim.nbody {
  bodies    = { sim.plummer(5) },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
