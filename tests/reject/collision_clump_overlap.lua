-- expect: 65 grains: 1 and 2 (ids, from 0) overlap by 1.2 of the smaller radius at the start
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { sim.clump { spheres = { {0, 0, 0, 0.5}, {1, 0, 0, 0.5} }, position = {5, 5, 5} }, { radius = 0.5, position = {5.9, 5, 5} } },
  contact   = { stiffness = 1000 },
  integrate = { t_end = 0.1 },
}
