-- expect: 65 box.x_low: expected "periodic" on both sides of x
return sim.collision {
  box       = { size = {10, 10, 10}, x_high = "wall" },
  grains    = { { radius = 1, position = {4, 5, 5} } },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 1 },
}
