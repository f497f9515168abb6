-- expect: 65 overlaps another grain or a wall by
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { sim.clump { spheres = { {0, 0, 0, 0.5}, {1, 0, 0, 0.5} }, position = {5, 5, 5} }, { radius = 0.5, position = {5.9, 5, 5} } },
  contact   = { stiffness = 1000 },
  integrate = { t_end = 0.1 },
}
