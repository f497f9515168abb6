-- expect: 65 contact.rolling.model: missing: the numbers beside it need a model
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6, friction = 0.5, rolling = { coefficient = 0.1 } },
  integrate = { t_end = 1 },
}
