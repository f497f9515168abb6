-- expect: 65 lattice: "D3Q27" is one of three axes: expected "auto" on a grid of two
return sim.fluid { lattice = "D3Q27",
  grid = { n = {16, 16}, size = {1, 1} }, viscosity = 0.1, speed = 1, integrate = { t_end = 1 } }
