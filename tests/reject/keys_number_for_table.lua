-- expect: 65 keys_number_for_table.lua:4: gravity: expected a table, got 1
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = 1,
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
