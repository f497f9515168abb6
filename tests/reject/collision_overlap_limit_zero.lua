-- expect: 65 contact.overlap_limit: expected a number in (0, 1], got 0
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6, overlap_limit = 0 },
  integrate = { t_end = 1 },
}
