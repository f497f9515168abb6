-- expect: 65 hostile_rep_1e18.lua:2: resulting string too large
local s = string.rep("ab", 1e18)
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
