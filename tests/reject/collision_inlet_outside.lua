-- expect: 65 expected a region in the box
return sim.collision {
  box       = { size = {1, 1, 1}, boundary = "open" },
  grains    = { { radius = 0.1, position = {0.5, 0.5, 0.5} } },
  contact   = { contact_time = 0.01 },
  insert    = { sim.inlet { rate = 1, radius = 0.1, low = {0, 0, 0}, high = {2, 1, 1} } },
  integrate = { t_end = 0.1 },
}
