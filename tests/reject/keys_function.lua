-- expect: 65 keys_function.lua:3: bodies[1].mass: expected a number, got a function
return sim.nbody {
  bodies    = { sim.plummer { n = 10, mass = math.sin, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
