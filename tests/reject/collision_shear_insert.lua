-- expect: 65 not possible in a sheared box
return sim.collision {
  box       = { size = {1, 1, 1}, boundary = "periodic", shear_rate = 1 },
  grains    = { { radius = 0.1, position = {0.5, 0.5, 0.5} } },
  insert    = { sim.inlet { rate = 10, radius = 0.1, low = {0, 0, 0}, high = {1, 1, 1} } },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 0.1 },
}
