-- expect: 65 keys_duplicate_quoted.lua:6: key 'gravity' is given twice (first at line 4)
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
  ["gravity"] = { G = 2 },
}
