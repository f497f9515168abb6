-- expect: 65 is periodic and less than 5 times the largest radius
return sim.collision {
  box       = { size = {10, 10, 10},  },
  grains    = { { radius = 3, position = {5, 5, 5} } },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 1 },
}
