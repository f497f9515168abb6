-- expect: 65 keys_table_for_number.lua:3: bodies[1].mass: expected a number, got a list of 1
return sim.nbody {
  bodies    = { sim.plummer { n = 10, mass = { 1 }, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
