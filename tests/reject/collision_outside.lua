-- expect: 65 1 (id, from 0) is outside the box: x = 11
return sim.collision {
  box       = { size = {10, 10, 10},  },
  grains    = { { radius = 1, position = {4, 5, 5} }, { radius = 1, position = {11, 5, 5} } },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 1 },
}
