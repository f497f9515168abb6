-- expect: 65 clumps: expected fewer than 2^32 - 1 spheres
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { sim.clumps { n = 4000000000, spheres = { {0, 0, 0, 0.5}, {1, 0, 0, 0.5} } } },
  contact   = { stiffness = 1000 },
  integrate = { t_end = 0.1 },
}
