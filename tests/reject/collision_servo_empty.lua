-- expect: 65 walls[1].servo: is empty: expected force or pressure, and speed
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6 },
  walls     = { sim.plane { point = {0, 0, 1}, normal = {0, 0, 1}, servo = {} } },
  integrate = { t_end = 1 },
}
