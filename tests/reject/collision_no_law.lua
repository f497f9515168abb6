-- expect: 65 contact.stiffness: missing
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact = { restitution = 0.9 },
  integrate = { t_end = 1 },
}
