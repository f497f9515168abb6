-- expect: 65 hostile_iterator.lua:3: bad argument #1
local step = pairs({ 1, 2, 3 })
step(5)
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
