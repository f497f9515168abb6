-- expect: 65 keys_global_assigned.lua:2: assignment to the undefined name 'n', write 'local n = ...' first
n = 16
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.02 },
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 1 },
}
