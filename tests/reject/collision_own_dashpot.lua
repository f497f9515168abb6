-- expect: 65 integrate.dt: expected at most 3.33333333e-06, got 0.0001: contact.force
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { law = "own", stiffness = 1e4,
                force = function(overlap, rate, radius, mass) return 1e4 * overlap + 1e5 * mass * rate end },
  integrate = { dt = 1e-4, t_end = 0.01 },
}
