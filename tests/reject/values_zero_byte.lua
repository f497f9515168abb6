-- expect: 65 values_zero_byte.lua:7: integrate.scheme: expected one of
-- lines: 4
return sim.nbody {
  units     = { length = "kpc\0", mass = "1e10 Msun", time = "Myr" },
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  gravity   = { softening = 0.02 },
  integrate = { scheme = "leapfrog\0junk", dt = "adaptive\0", t_end = 1 },
  output    = { snapshots = "every 1 Myr\0x" },
}
