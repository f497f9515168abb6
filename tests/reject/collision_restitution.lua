-- expect: 65 contact.restitution
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact = { stiffness = 1, restitution = 1.5 },
  integrate = { t_end = 1 },
}
