-- expect: 65 clumps: the spheres about the bodies fill
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { sim.clumps { n = 200, spheres = { {0, 0, 0, 0.5}, {1, 0, 0, 0.5} } } },
  contact   = { stiffness = 1000 },
  integrate = { t_end = 0.1 },
}
