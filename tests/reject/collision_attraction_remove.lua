-- expect: 65 self_gravity: expected neither insert nor remove nor an outlet
return sim.collision {
  box       = { size = {20, 20, 20}, boundary = "open" },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { contact_time = 0.05 },
  self_gravity = { G = 1 },
  remove    = { { low = {0, 0, 0}, high = {1, 1, 1} } },
  integrate = { t_end = 1 },
}
