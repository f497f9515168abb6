-- expect: 65 contact.rolling.damping: has a meaning with model = "sds" alone
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6, friction = 0.5, rolling = { model = "viscous", coefficient = 0.1, damping = 1 } },
  integrate = { t_end = 1 },
}
