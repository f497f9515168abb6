-- expect: 65 contact.cohesion.surface_energy: expected a number above 0, got 0
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { law = "hertz", young = 1e6, friction = 0.5, cohesion = { model = "jkr", surface_energy = 0 } },
  integrate = { t_end = 1 },
}
