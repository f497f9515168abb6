-- expect: 65 keys_constructor_twice.lua:3: sim.hernquist: this table belongs to a sim.plummer already
return sim.nbody {
  bodies    = { sim.hernquist(sim.plummer { n = 16, mass = 1, radius = 1 }) },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
