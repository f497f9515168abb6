-- expect: 65 spectrum: needs a box that is periodic along all axes: along y it is not
return sim.fluid { grid = { n = {32, 32}, size = {1, 1}, y = "wall" }, viscosity = 0.01, speed = 1, spectrum = 8,
  integrate = { t_end = 1 } }
