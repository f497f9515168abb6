-- expect: 65 law_external_velocity.lua:4: external: depends on vx, vy, vz, which leapfrog does not allow: expected integrate.scheme = "ias15"
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1e-3, position = {1, 0, 0}, velocity = {0, 1, 0} } },
  external  = function(x, y, z, vx, vy, vz) return -vx, -vy, -vz end,
  integrate = { dt = 0.1, t_end = 1 },
}
