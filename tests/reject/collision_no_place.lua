-- expect: 65 of a radius is left about {5, 5, 5}
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { sim.random_spheres { n = 1, radius = 0.5, low = {4.5, 4.5, 4.5}, high = {5.5, 5.5, 5.5} } },
  contact   = { stiffness = 100 },
  walls     = { sim.block { low = {4, 4, 4}, high = {6, 6, 6} } },
  integrate = { dt = "auto", t_end = 1 },
}
