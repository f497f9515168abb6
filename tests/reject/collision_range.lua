-- expect: 65 radii within 1:200
return sim.collision {
  box       = { size = {10, 10, 10},  },
  grains    = { sim.random_spheres { n = 10, radii = {0.001, 0.3} } },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 1 },
}
