-- expect: 65 contact.force
return sim.collision {
  box       = { size = {1, 1, 1}, boundary = "open" },
  grains    = { { radius = 0.1, position = {0.5, 0.5, 0.5} } },
  contact   = { law = "own", stiffness = 1 },
  integrate = { t_end = 0.1 },
}
