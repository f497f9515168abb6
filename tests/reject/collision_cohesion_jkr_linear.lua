-- expect: 65 contact.cohesion.model: "jkr" needs law = "hertz"
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6, friction = 0.5, cohesion = { model = "jkr", surface_energy = 1 } },
  integrate = { t_end = 1 },
}
