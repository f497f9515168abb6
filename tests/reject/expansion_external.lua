-- expect: 65 expansion_external.lua:3: external: expected gravity alone beside expansion
return sim.nbody {
  external  = function(x, y, z, t) return x end,
  box       = { size = 50, boundary = "periodic" },
  expansion = { omega_m = 0.3, omega_lambda = 0.7, a_start = 0.1 },
  bodies    = { sim.zeldovich { n = 8 } },
  gravity   = { softening = 0.2 },
  integrate = { dt = 0.05, t_end = 1 },
}
