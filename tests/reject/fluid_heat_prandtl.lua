-- expect: 65 and the run would be unstable: expected a viscosity of at least 552
return sim.fluid {
  grid = { n = {24, 24}, size = {1, 1} }, viscosity = 0.1, speed = 0.1, heat = { diffusivity = 1e5 },
  integrate = { t_end = 1 } }
