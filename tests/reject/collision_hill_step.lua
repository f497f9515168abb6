-- expect: 65 integrate.dt: expected at most 0.125, got 0.2: hill needs 0.25 over its highest frequency
return sim.collision {
  box       = { size = {20, 20, 20}, z_low = "open", z_high = "open" },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { contact_time = 10 },
  hill      = { omega = 1, vertical = 2 },
  integrate = { dt = 0.2, t_end = 1 },
}
