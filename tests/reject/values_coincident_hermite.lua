-- expect: 65 both at
return sim.nbody {
  bodies    = { { mass = 1, position = {1, 2, 3} }, { mass = 1, position = {1, 2, 3} } },
  integrate = { scheme = "hermite4", dt = 0.1, t_end = 1 },
}
