-- expect: 65 hill.kappa: expected at most 2 omega, 2, got 2.5
return sim.collision {
  box       = { size = {20, 20, 20}, z_low = "open", z_high = "open" },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { contact_time = 0.05 },
  hill      = { omega = 1, kappa = 2.5 },
  integrate = { t_end = 1 },
}
