-- expect: 65 contact.pairs[1].rolling.model: expected one of "contact", "spring_dashpot", "sds", "constant_torque", "viscous", got the string "none"
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6, friction = 0.5, rolling = { model = "viscous", coefficient = 0.1 },
                pairs = { { a = "grain", b = "grain", rolling = { model = "none", coefficient = 0.2 } } } },
  integrate = { t_end = 1 },
}
