-- expect: 65 fluid_cubes.lua:2: grid.n: expected cells that are as wide along all axes: with 32 along x, n = {32, 16}
return sim.fluid { grid = { n = {32, 32}, size = {2, 1} }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 } }
