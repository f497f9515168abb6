-- expect: 65 integrate.dt: expected at most 0.000698131701, got 0.001: springs and dashpots
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1000, damping = 1000 },
  integrate = { dt = 1e-3, t_end = 0.01 },
}
