-- expect: 65 hill: expected neither insert nor remove nor an outlet
return sim.collision {
  box       = { size = {20, 20, 20}, z_low = "outlet", z_high = "open" },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { contact_time = 0.05 },
  hill      = { omega = 1 },
  integrate = { t_end = 1 },
}
