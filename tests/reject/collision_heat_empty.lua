-- expect: 65 heat.capacity: missing: heat needs it
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6 },
  heat      = {},
  integrate = { t_end = 1 },
}
