-- expect: 65 merge: expected a box without walls
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "wall" },
  grains    = { { radius = 0.5, position = {3, 5, 5} }, { radius = 0.5, position = {7, 5, 5} } },
  merge     = { when = "touch" },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 0.1 },
}
