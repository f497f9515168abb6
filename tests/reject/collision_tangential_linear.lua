-- expect: 65 contact.tangential: "linear_history" needs law = "linear"
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { law = "hertz", young = 1e6, friction = 0.5, tangential = "linear_history" },
  integrate = { t_end = 1 },
}
