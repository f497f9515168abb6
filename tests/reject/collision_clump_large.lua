-- expect: 65 less than 4 times the radius of the sphere about a clump, 3.5
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "periodic" },
  grains    = { sim.clump { spheres = { {0, 0, 0, 0.5}, {6, 0, 0, 0.5} }, position = {5, 5, 5} } },
  contact   = { stiffness = 1000 },
  integrate = { t_end = 0.1 },
}
