-- expect: 65 values_shared_levels.lua:5: integrate.levels: has no effect with steps = "shared": expected "individual"
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { dt = 1/64, levels = 3, t_end = 1 },
}
