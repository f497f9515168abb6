-- expect: 65 contact.overlap_limit: expected at most 0.05 with law = "linear"
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6, overlap_limit = 0.2 },
  integrate = { t_end = 1 },
}
