-- expect: 65 integrate.dt: expected at most 1.01663295e-05, got 0.001: contact.force
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 0.5, position = {5, 5, 5}, density = 1000 } },
  insert    = { sim.inlet { rate = 1, radius = 0.1, low = {1, 1, 8}, high = {9, 9, 9} } },
  contact   = { law = "own", stiffness = 1, force = function(overlap) return 2e6 * overlap end },
  integrate = { dt = 1e-3, t_end = 0.01 },
}
