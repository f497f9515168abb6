-- expect: 65 insert: not possible with clumps
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { sim.clump { spheres = { {0, 0, 0, 0.5}, {1, 0, 0, 0.5} }, position = {5, 5, 5} } },
  contact   = { stiffness = 1000 },
  insert    = { sim.inlet { rate = 1, radius = 0.5, low = {1, 1, 1}, high = {3, 3, 3} } },
  integrate = { t_end = 0.1 },
}
