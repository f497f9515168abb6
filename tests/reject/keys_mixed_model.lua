-- expect: 65 keys_mixed_model.lua:2: expected a table of names, got a table that mixes list items and names ('bodies')
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
  "stray",
}
