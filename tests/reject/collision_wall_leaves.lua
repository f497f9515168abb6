-- expect: 65 walls[1]: the box is periodic in x, where walls have no images, and the wall leaves its room there at t = 0.979592
return sim.collision {
  box       = { size = {1, 1, 1}, boundary = "periodic" },
  grains    = { { radius = 0.02, position = {0.1, 0.1, 0.1} } },
  walls     = { sim.block { low = {0.3, 0.3, 0.3}, high = {0.5, 0.5, 0.5}, velocity = {0.49, 0, 0} } },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 1 },
}
