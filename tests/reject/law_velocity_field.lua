-- expect: 65 law_velocity_field.lua:5: bodies[1].velocity_field: expected 3 results (vx, vy, vz), got 1
return sim.nbody {
  precision = "double",
  title     = "a velocity field",
  bodies = { { mass = 1, velocity_field = function(x, y, z) return x end } },
  integrate = { dt = 1/64, t_end = 1 },
}
