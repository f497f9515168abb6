-- expect: 65 self_gravity.G: missing: self_gravity needs it
return sim.collision {
  box          = { size = {20, 20, 20}, boundary = "open" },
  grains       = { { radius = 1, position = {5, 5, 5} } },
  contact      = { contact_time = 0.05 },
  self_gravity = {},
  integrate    = { t_end = 1 },
}
