-- expect: 65 gates: not possible with clumps
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { sim.clump { spheres = { {0, 0, 0, 0.5}, {1, 0, 0, 0.5} }, position = {5, 5, 5} } },
  contact   = { stiffness = 1000 },
  gates     = { { point = {0, 0, 5}, normal = {0, 0, 1} } },
  integrate = { t_end = 0.1 },
}
