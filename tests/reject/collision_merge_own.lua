-- expect: 65 merge: needs contact.law = "linear" or "hertz"
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { { radius = 0.5, position = {3, 5, 5} }, { radius = 0.5, position = {7, 5, 5} } },
  merge     = { when = "touch" },
  contact   = { law = "own", stiffness = 1e4, force = function(overlap, rate, radius, mass) return 1e4 * overlap end },
  integrate = { t_end = 0.1 },
}
