-- expect: 65 law_external_speed_potential.lua:4: external: expected an acceleration where it depends on vx, vy, vz, got a potential
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1e-3, position = {1, 0, 0}, velocity = {0, 1, 0} } },
  external  = function(x, y, z, vx) return x * vx end,
  integrate = { scheme = "ias15", dt = 0.1, t_end = 1 },
}
