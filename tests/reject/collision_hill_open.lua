-- expect: 65 hill: expected a box that is periodic in x (outwards) and in y (along the orbit)
return sim.collision {
  box       = { size = {20, 20, 20}, y_low = "open", y_high = "open", z_low = "open", z_high = "open" },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { contact_time = 0.05 },
  hill      = { omega = 1 },
  integrate = { t_end = 1 },
}
