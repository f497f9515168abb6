-- expect: 65 bodies[1].position
return sim.nbody {
  bodies    = { { mass = 1, position = {1, 2, math.huge} } },
  integrate = { dt = 0.1, t_end = 1 },
}
