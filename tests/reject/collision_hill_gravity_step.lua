-- expect: 65 self_gravity.step: expected at most 0.25, got 0.3: accelerations are kept for 0.5 over the highest frequency
return sim.collision {
  box          = { size = {20, 20, 20}, z_low = "open", z_high = "open" },
  grains       = { { radius = 1, position = {5, 5, 5} } },
  contact      = { contact_time = 10 },
  hill         = { omega = 1, vertical = 2 },
  self_gravity = { G = 1, step = 0.3 },
  integrate    = { dt = 0.01, t_end = 1 },
}
