-- expect: 65 contact.restitution_law: expected a coefficient above 0 and at most 1, got 2 for speed = 0
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  gravity   = {0, 0, -10},
  insert    = { sim.inlet { low = {2, 2, 6}, high = {8, 8, 9}, radius = 0.3, rate = 20, velocity = {0, 0, -3} } },
  contact   = { contact_time = 0.05, restitution_law = function(speed) return 2 end },
  integrate = { t_end = 1 },
}
