-- expect: 65 turbulence.smagorinski: unknown key, nearest is 'smagorinsky'
return sim.fluid {
  grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1, integrate = { t_end = 1 },
  turbulence = { smagorinski = 0.1, smagorinsky = 0.1 } }
