-- expect: 65 the centre of clump 1 is outside the box
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "periodic" },
  grains    = { sim.clump { spheres = { {0, 0, 0, 0.5} }, position = {12, 5, 5} } },
  contact   = { stiffness = 1000 },
  integrate = { t_end = 0.1 },
}
