-- expect: 65 contact.twisting.model: "marshall" needs friction above 0
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6, twisting = { model = "marshall" } },
  integrate = { t_end = 1 },
}
