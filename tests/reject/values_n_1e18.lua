-- expect: 71 are free
-- args: --device cpu
return sim.nbody {
  bodies    = { sim.plummer { n = 1e18, mass = 1, radius = 1 } },
  gravity   = { softening = 0.1 },
  integrate = { dt = 0.1, t_end = 1 },
}
