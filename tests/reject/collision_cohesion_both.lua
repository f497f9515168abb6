-- expect: 65 contact.cohesion: expected one of surface_energy and cohesion, got both
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { law = "hertz", young = 1e6, friction = 0.5, surface_energy = 1, cohesion = { model = "jkr", surface_energy = 1 } },
  integrate = { t_end = 1 },
}
