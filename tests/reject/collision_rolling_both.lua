-- expect: 65 contact.rolling: expected one of rolling_friction and rolling, got both
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6, friction = 0.5, rolling_friction = 0.1, rolling = { model = "sds", coefficient = 0.1, stiffness = 1e4 } },
  integrate = { t_end = 1 },
}
