-- expect: 65 steady: reads rows of the table `flow`: output.tables must be in steps or in simulated time
return sim.fluid { grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1,
  sides = { y_high = { velocity = {1, 0} } }, steady = 1e-8, integrate = { t_end = 10 },
  output = { tables = "every 5 s" } }
