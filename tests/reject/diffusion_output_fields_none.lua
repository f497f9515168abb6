-- expect: 65 output.fields: expected no names: snapshots and slices of this sim.diffusion have the fields of its state alone
return sim.diffusion { grid = { n = {32}, size = {1} }, fields = { { name = "u", D = 1, initial = 1 } },
  integrate = { dt = 1e-3, t_end = 1 }, output = { fields = "q" } }
