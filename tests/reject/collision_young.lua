-- expect: 65 contact.young: missing
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact = { law = "hertz" },
  integrate = { t_end = 1 },
}
