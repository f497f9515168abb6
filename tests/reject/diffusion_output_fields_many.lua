-- expect: 65 output.fields: expected at most 16 names, got 17
local observe, names = {}, {}
for i = 1, 17 do
  names[i] = "f" .. i
  observe[names[i]] = function(u) return u + i end
end
return sim.diffusion { grid = { n = {32}, size = {1} }, fields = { { name = "u", D = 1, initial = 1 } }, observe = observe,
  integrate = { dt = 1e-3, t_end = 1 }, output = { fields = table.concat(names, ", ") } }
