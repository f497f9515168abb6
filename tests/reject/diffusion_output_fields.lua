-- expect: 65 output.fields: expected names among p, most, with commas between them, got "q"
return sim.diffusion { grid = { n = {32}, size = {1} }, fields = { { name = "u", D = 1, initial = 1 } },
  derived = { p = function(k2, u) return -u/k2 end },
  observe = { most = { function(u) return u end, reduce = "max" }, u = function(u) return u end },
  integrate = { dt = 1e-3, t_end = 1 }, output = { fields = "q" } }
