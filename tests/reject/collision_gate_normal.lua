-- expect: 65 expected a direction
return sim.collision {
  box       = { size = {1, 1, 1}, boundary = "open" },
  grains    = { { radius = 0.1, position = {0.5, 0.5, 0.5} } },
  contact   = { contact_time = 0.01 },
  gates     = { { point = {0, 0, 0}, normal = {0, 0, 0} } },
  integrate = { t_end = 0.1 },
}
