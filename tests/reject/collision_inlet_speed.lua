-- expect: 65 insert[1].velocity: grains are too fast: expected less than a side of a periodic box in a step of 0.001
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "periodic" },
  insert    = { sim.inlet { rate = 100, radius = 0.3, velocity = {0, 1e20, 0}, low = {1, 1, 8}, high = {9, 9, 9} } },
  contact   = { law = "linear", stiffness = 1000 },
  integrate = { dt = 1e-3, t_end = 1 },
}
