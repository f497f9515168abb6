-- expect: 65 output.fields: has no effect: no output has fields: expected snapshots or slices, got snapshots = "never"
return sim.diffusion { grid = { n = {32}, size = {1} }, fields = { { name = "u", D = 1, initial = 1 } },
  derived = { p = function(k2, u) return -u/k2 end },
  integrate = { dt = 1e-3, t_end = 1 }, output = { fields = "p", snapshots = "never" } }
