-- expect: 65 contact.cohesion.range: has no meaning with model = "none"
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6, friction = 0.5, cohesion = { range = 1 } },
  integrate = { t_end = 1 },
}
