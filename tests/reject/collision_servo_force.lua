-- expect: 65 walls[1].servo.force: missing: a servo needs force or pressure
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6 },
  walls     = { sim.plane { point = {0, 0, 1}, normal = {0, 0, 1}, servo = { speed = 1 } } },
  integrate = { t_end = 1 },
}
