-- expect: 65 contact.tangential: "mindlin/force" needs law = "hertz"
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6, friction = 0.5, tangential = "mindlin/force" },
  integrate = { t_end = 1 },
}
