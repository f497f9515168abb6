-- expect: 65 hill.omega: missing: hill needs it
return sim.collision {
  box       = { size = {20, 20, 20}, z_low = "open", z_high = "open" },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { contact_time = 0.05 },
  hill      = {},
  integrate = { t_end = 1 },
}
