-- expect: 65 merge: not possible with a contact.cohesion that reaches beyond the touch
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { { radius = 0.5, position = {3, 5, 5} }, { radius = 0.5, position = {7, 5, 5} } },
  merge     = { when = "touch" },
  contact   = { contact_time = 0.01, cohesion = { model = "square_well", energy = 1, range = 0.1 } },
  integrate = { t_end = 0.1 },
}
