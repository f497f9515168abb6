-- expect: 65 contact.damping: has no meaning with law = "hertz"
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { position = {5, 5, 5}, radius = 1, density = 1 } },
  contact   = { law = "hertz", young = 1e6, damping = 3 },
  integrate = { t_end = 1 },
}
