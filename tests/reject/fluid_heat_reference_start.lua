-- expect: 65 heat.reference: is 0, far from the temperatures of the start, sides and bodies, 299 to 300
-- lines: 7
return sim.fluid {
  grid = { n = {16, 16}, size = {1, 1}, boundary = "wall" }, viscosity = 0.1, speed = 1,
  sides = { x_low = { velocity = {0.5, 0} }, x_high = { pressure = 0 } },
  bodies = { sim.ball { point = {0.5, 0.5, 0}, radius = 0.2 } },
  heat = { diffusivity = 0.1, x_low = 300, initial = function(x, y) return 299 end }, integrate = { t_end = 1 } }
