-- expect: 65 law_external_input.lua:5: external: unknown input 'r', expected x, y, z, vx, vy, vz, t
return sim.nbody {
  precision = "double",
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  external = function(r) return r^2 end,
  integrate = { dt = 1/64, t_end = 1 },
}
