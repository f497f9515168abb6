-- expect: 65 law_velocity_infinite.lua: bodies: velocity_field gives body 0 (from 0) at {0, 0, 0} a velocity that is not finite
return sim.nbody {
  precision = "double",
  title     = "a velocity field",
  bodies = { { mass = 1, velocity_field = function(x, y, z) return 1 / x, 0, 0 end } },
  integrate = { dt = 1/64, t_end = 1 },
}
