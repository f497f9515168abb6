-- expect: 65 keys_constructor_two.lua:3: sim.plummer expects one table, got 2 values
return sim.nbody {
  bodies    = { sim.plummer({}, {}) },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
