-- expect: 65 law_external_number.lua:5: external: expected function(x, y, z, vx, vy, vz, t), got 9.81
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  external = 9.81,
  integrate = { dt = 1/64, t_end = 1 },
}
