-- expect: 65 contact.twisting.coefficient: has no meaning with model = "marshall"
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6, friction = 0.5, twisting = { model = "marshall", coefficient = 0.1 } },
  integrate = { t_end = 1 },
}
