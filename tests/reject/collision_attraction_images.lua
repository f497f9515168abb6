-- expect: 65 self_gravity.images: has no meaning without hill
return sim.collision {
  box          = { size = {20, 20, 20}, boundary = "open" },
  grains       = { { radius = 1, position = {5, 5, 5} } },
  contact      = { contact_time = 0.05 },
  self_gravity = { G = 1, images = 2 },
  integrate    = { t_end = 1 },
}
