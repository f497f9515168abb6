-- expect: 65 output.fields: sim.diffusion has no derived fields
return sim.diffusion { grid = { n = {32}, size = {1} }, fields = { { name = "u", D = 1, initial = 1 } },
  integrate = { dt = 1e-3, t_end = 1 }, output = { fields = "q" } }
