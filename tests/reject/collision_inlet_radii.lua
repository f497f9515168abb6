-- expect: 65 within 1:200 of each other and of those at the start
return sim.collision {
  box       = { size = {1, 1, 1}, boundary = "open" },
  grains    = { { radius = 0.1, position = {0.5, 0.5, 0.5} } },
  insert    = { sim.inlet { rate = 10, radius = 0.0001, low = {0, 0, 0}, high = {1, 1, 1} } },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 0.1 },
}
