-- expect: 65 box.shear_rate: leave it out
return sim.collision {
  box       = { size = {20, 20, 20}, shear_rate = 1, z_low = "open", z_high = "open" },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { contact_time = 0.05 },
  hill      = { omega = 1 },
  integrate = { t_end = 1 },
}
