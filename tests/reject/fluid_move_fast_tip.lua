-- expect: 65 bodies[1]: its surface is faster, 
-- lines: 3
return sim.fluid {
  grid = { n = {40, 32}, size = {40, 32}, boundary = "wall" }, viscosity = 0.1, speed = 1, integrate = { t_end = 20 },
  bodies = { sim.block { low = {10, 14, 0}, high = {30, 18, 0}, turning = function(t) return 0.02 * t end } } }
