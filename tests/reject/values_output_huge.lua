-- expect: 65 values_output_huge.lua:6: output.checkpoint: expected an interval above 0, and finite
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
  output    = { checkpoint = "every 1e308 h" },
}
