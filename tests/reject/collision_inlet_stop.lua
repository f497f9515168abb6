-- expect: 65 insert[1]: expected start before stop, got 2 and 1
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "wall" },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  insert    = { sim.inlet { rate = 1, radius = 1, low = {0, 0, 5}, high = {9, 9, 9}, start = 2, stop = 1 } },
  contact   = { stiffness = 1e6 },
  integrate = { t_end = 5 },
}
