-- expect: 65 contact.restitution_law: needs law = "linear"
return sim.collision {
  box       = { size = {20, 20, 20}, z_low = "open", z_high = "open" },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { law = "hertz", young = 1e6, restitution_law = function(speed) return sim.exp(-speed) end },
  integrate = { t_end = 1 },
}
