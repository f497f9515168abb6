-- expect: 65 spectrum_no_box.lua:5: spectrum: expected box = { size, boundary = "periodic" } beside it
return sim.nbody {
  bodies    = { sim.plummer { n = 100, mass = 1, radius = 1 } },
  gravity   = { softening = 0.2 },
  spectrum  = 16,
  integrate = { dt = 0.05, t_end = 1 },
}
