-- expect: 65 self_gravity: expected a box without periodic sides, or hill and a z that is not periodic
return sim.collision {
  box       = { size = {20, 20, 20} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { contact_time = 0.05 },
  hill      = { omega = 1 },
  self_gravity = { G = 1 },
  integrate = { t_end = 1 },
}
