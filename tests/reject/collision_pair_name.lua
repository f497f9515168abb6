-- expect: 65 nearest is 'grain'
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact = { stiffness = 1, pairs = { { a = "grian", b = "wall" } } },
  integrate = { t_end = 1 },
}
