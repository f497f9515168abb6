-- expect: 65 got a table with a metatable
return sim.nbody {
  bodies    = { setmetatable(sim.plummer { n = 16, mass = 1, radius = 1 }, {}) },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
