-- expect: 65 contact.stiffness
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact = { stiffness = 0 },
  integrate = { t_end = 1 },
}
