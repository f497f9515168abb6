-- expect: 65 bodies: the table `bodies` would have 65 columns: expected at most 64
local bodies = {}
for i = 1, 5 do
  bodies[i] = sim.ball { point = {12 * i, 8, 8}, radius = 4, reference = { area = 50, length = 8, direction = {1, 0, 0} } }
end
return sim.fluid {
  grid = { n = {72, 16, 16}, size = {72, 16, 16} }, viscosity = 0.1, speed = 1, integrate = { t_end = 20 }, bodies = bodies }
