-- expect: 65 contact.restitution_law: expected no restitution and no damping beside it
return sim.collision {
  box       = { size = {20, 20, 20}, z_low = "open", z_high = "open" },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { contact_time = 0.05, restitution = 0.5, restitution_law = function(speed) return sim.exp(-speed) end },
  integrate = { t_end = 1 },
}
