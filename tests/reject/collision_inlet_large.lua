-- expect: 65 less than 5 times the largest radius of an inlet
return sim.collision {
  box       = { size = {1, 1, 1}, boundary = "open", x_low = "periodic", x_high = "periodic" },
  grains    = { { radius = 0.1, position = {0.5, 0.5, 0.5} } },
  insert    = { sim.inlet { rate = 10, radius = 0.25, low = {0, 0, 0}, high = {1, 1, 1} } },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 0.1 },
}
