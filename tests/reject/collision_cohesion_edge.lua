-- expect: 65 contact.cohesion.edge: expected at most range, 0.1, got 0.2
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6, friction = 0.5, cohesion = { model = "square_well", energy = 1, range = 0.1, edge = 0.2 } },
  integrate = { t_end = 1 },
}
