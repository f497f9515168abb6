-- expect: 65 contact.pairs[1].cohesion.model: expected the model of `contact`: a run has one
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { law = "hertz", young = 1e6, friction = 0.5, cohesion = { model = "jkr", surface_energy = 1 }, pairs = { { a = "grain", b = "wall", cohesion = { model = "dmt" } } } },
  integrate = { t_end = 1 },
}
