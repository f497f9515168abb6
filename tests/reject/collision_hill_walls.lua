-- expect: 65 walls: not possible with hill, but for sides of the box
return sim.collision {
  box       = { size = {20, 20, 20}, z_low = "open", z_high = "open" },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { contact_time = 0.05 },
  hill      = { omega = 1 },
  walls     = { sim.plane { point = {0, 0, 0.5}, normal = {0, 0, 1} } },
  integrate = { t_end = 1 },
}
