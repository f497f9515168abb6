-- expect: 65 expected more than 0
return sim.collision {
  box       = { size = {1, 1, 1}, boundary = "open" },
  grains    = { { radius = 0.1, position = {0.5, 0.5, 0.5} } },
  contact   = { contact_time = 0.01 },
  walls     = { sim.cone { point = {0, 0, 0}, axis = {0, 0, 1}, length = 0, radius = 1, end_radius = 1 } },
  integrate = { t_end = 0.1 },
}
