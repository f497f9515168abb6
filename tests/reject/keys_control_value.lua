-- expect: 65 got the string "\x1b[31m\x0a"
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "\27[31m\n", dt = 1/256, t_end = 1 },
}
