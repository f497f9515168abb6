-- expect: 65 grid.n: expected 2 or 3 numbers of cells, got 1
return sim.fluid { grid = { n = {32}, size = {1} }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 } }
