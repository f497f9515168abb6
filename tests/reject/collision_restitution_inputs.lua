-- expect: 65 contact.restitution_law
return sim.collision {
  box       = { size = {20, 20, 20}, z_low = "open", z_high = "open" },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { contact_time = 0.05, restitution_law = function(speed, mass) return mass end },
  integrate = { t_end = 1 },
}
