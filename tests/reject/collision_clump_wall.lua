-- expect: 65 is outside the box
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "wall" },
  grains    = { sim.clump { spheres = { {0, 0, 0, 0.5}, {6, 0, 0, 0.5} }, position = {8, 5, 5} } },
  contact   = { stiffness = 1000 },
  integrate = { t_end = 0.1 },
}
