-- expect: 65 merge_each_radius.lua:3: bodies[1].radius: expected radii >= 0, got -0.1 for body 1
return sim.nbody {
  bodies    = { sim.each(3, function(i) return { mass = 1, position = {i, 0, 0}, radius = -0.1 } end) },
  merge     = true,
  integrate = { scheme = "ias15", dt = "adaptive", t_end = 1 },
}
