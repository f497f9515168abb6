-- expect: 65 integrate.dt: expected at most 0.000289188161, got 0.0005: springs and dashpots
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { law = "hertz", young = 1e6, poisson = 0.3, restitution = 0.05, friction = 0.5 },
  integrate = { dt = 5e-4, t_end = 0.01 },
}
