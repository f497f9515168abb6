-- expect: 65 hostile_dump.lua:2: 'string.dump' is not available in a scenario
local s = string.dump(function() end)
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
