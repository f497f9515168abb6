-- expect: 65 hostile_collectgarbage.lua:2: 'collectgarbage' is not available in a scenario
collectgarbage("stop")
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
