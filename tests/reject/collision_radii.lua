-- expect: 65 expected one of radius and radii, got neither
return sim.collision {
  box       = { size = {10, 10, 10},  },
  grains    = { sim.random_spheres { n = 10 } },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 1 },
}
