-- expect: 65 keys_cycle.lua:2: gravity.G: a cycle is not allowed here
local gravity = { G = 1, softening = 0.02 }
gravity.G = gravity
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },

  gravity   = gravity,
  integrate = { dt = 1/256, t_end = 1 },
}
