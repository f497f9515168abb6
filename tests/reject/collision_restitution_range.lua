-- expect: 65 contact.restitution_law: expected a coefficient above 0 and at most 1, got inf for speed = 0
return sim.collision {
  box       = { size = {20, 20, 20}, z_low = "open", z_high = "open" },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { contact_time = 0.05, restitution_law = function(speed) return 0.3 * speed^-0.2 end },
  integrate = { t_end = 1 },
}
