-- expect: 65 merge: not possible with heat
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { { radius = 0.5, position = {3, 5, 5} }, { radius = 0.5, position = {7, 5, 5} } },
  merge     = { when = "touch" },
  contact   = { contact_time = 0.01 },
  heat      = { conductivity = 1, capacity = 1 },
  integrate = { t_end = 0.1 },
}
