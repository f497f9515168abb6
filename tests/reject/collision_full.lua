-- expect: 65 the grains fill
return sim.collision {
  box       = { size = {10, 10, 10},  },
  grains    = { sim.random_spheres { n = 1000, radius = 0.6 } },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 1 },
}
