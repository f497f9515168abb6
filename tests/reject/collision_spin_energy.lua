-- expect: 65 grain 0 (id, from 0) is too fast
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { { radius = 0.5, position = {5, 5, 5}, angular_velocity = {0, 1e200, 0} } },
  contact   = { law = "linear", stiffness = 1000, friction = 0.5 },
  integrate = { dt = 1e-3, t_end = 1 },
}
