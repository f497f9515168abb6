-- expect: 65 output.fields: has no effect: no output has fields: expected snapshots or slices, got snapshots = "never"
return sim.fluid { grid = { n = {32, 32}, size = {1, 1}, boundary = "wall" }, viscosity = 0.01, speed = 1,
  sides = { y_high = { velocity = {1, 0} } }, integrate = { t_end = 10 }, output = { fields = "q", snapshots = "never" } }
