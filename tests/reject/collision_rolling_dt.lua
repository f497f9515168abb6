-- expect: 65 integrate.dt: expected at most
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6, friction = 0.5, rolling = { model = "sds", coefficient = 0.1, stiffness = 1e9 } },
  integrate = { dt = 2e-3, t_end = 1 },
}
