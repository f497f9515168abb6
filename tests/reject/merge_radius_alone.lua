-- expect: 65 merge_radius_alone.lua:3: bodies[1].radius: has no effect without merge = true
return sim.nbody {
  bodies    = { { mass = 1, radius = 0.1 }, { mass = 1, position = {1, 0, 0} } },
  integrate = { scheme = "ias15", dt = "adaptive", t_end = 1 },
}
