-- expect: 65 integrate.dt: expected at most
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { sim.clump { spheres = { {0, 0, 0, 0.5}, {1, 0, 0, 0.5} }, mass = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1000 },
  integrate = { dt = 0.01, t_end = 0.1 },
}
