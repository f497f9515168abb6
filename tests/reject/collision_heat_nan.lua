-- expect: 65 heat.temperature is nan at x = 5
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6 },
  heat      = { conductivity = 1e-3, capacity = 1, temperature = function(x) return (x - 6)^0.5 end },
  integrate = { t_end = 1 },
}
