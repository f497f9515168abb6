-- expect: 65 integrate.dt: expected at most 0.001
return sim.collision {
  box       = { size = {10, 10, 10},  },
  grains    = { { radius = 1, position = {4, 5, 5} } },
  contact   = { contact_time = 0.01 },
  integrate = { dt = 0.002, t_end = 1 },
}
