-- expect: 65 periodic in x and in y
return sim.collision {
  box       = { size = {1, 1, 1}, boundary = "open", shear_rate = 1 },
  grains    = { { radius = 0.1, position = {0.5, 0.5, 0.5} } },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 0.1 },
}
