-- expect: 65 heat: needs contact.law = "linear" or "hertz"
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { law = "own", force = function(overlap) return 1e6 * overlap end, stiffness = 1e6 },
  heat      = { conductivity = 1e-3, capacity = 1 },
  integrate = { t_end = 1 },
}
