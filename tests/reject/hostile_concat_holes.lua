-- expect: 65 hostile_concat_holes.lua:2: 
table.concat({}, ",", 1, 1e9)
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
