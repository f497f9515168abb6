-- expect: 65 0 and 1 (ids, from 0) overlap by 0.2
return sim.collision {
  box       = { size = {10, 10, 10},  },
  grains    = { { radius = 1, position = {4, 5, 5} }, { radius = 1, position = {5.8, 5, 5} } },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 1 },
}
