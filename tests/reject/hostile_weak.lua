-- expect: 65 hostile_weak.lua:2: setmetatable: __mode is not available in a scenario
setmetatable({}, { __mode = "v" })
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
