-- expect: 65 heat.conductivity: grains would give away their heat within a step
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6 },
  heat      = { conductivity = 1e9, capacity = 1 },
  integrate = { t_end = 1 },
}
