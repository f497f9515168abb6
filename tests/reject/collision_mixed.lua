-- expect: 65 precision: expected "single" or "double"
return sim.collision {
  precision = "mixed",
  box       = { size = {10, 10, 10},  },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 1 },
}
