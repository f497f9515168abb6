-- expect: 65 contact.restitution_law: not possible with rolling, twisting, cohesion or tangential by name
return sim.collision {
  box       = { size = {20, 20, 20}, z_low = "open", z_high = "open" },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { contact_time = 0.05, friction = 0.1, tangential = "linear_history", restitution_law = function(speed) return sim.exp(-speed) end },
  integrate = { t_end = 1 },
}
