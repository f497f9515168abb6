-- expect: 65 box.shear_rate: not possible with clumps
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "periodic", shear_rate = 1 },
  grains    = { sim.clump { spheres = { {0, 0, 0, 0.5}, {1, 0, 0, 0.5} }, position = {5, 5, 5} } },
  contact   = { stiffness = 1000 },
  integrate = { t_end = 0.1 },
}
