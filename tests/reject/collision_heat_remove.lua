-- expect: 65 heat: expected neither insert nor remove nor an outlet
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6 },
  heat      = { conductivity = 1e-3, capacity = 1 },
  remove    = { { low = {0, 0, 0}, high = {1, 1, 1} } },
  integrate = { t_end = 1 },
}
