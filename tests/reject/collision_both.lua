-- expect: 65 contact.contact_time: expected one of
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact = { stiffness = 1, contact_time = 1 },
  integrate = { t_end = 1 },
}
