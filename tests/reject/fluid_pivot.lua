-- expect: 65 bodies[1].pivot: has an effect with spin or turning alone
return sim.fluid {
  grid = { n = {40, 32}, size = {40, 32}, boundary = "wall" }, viscosity = 0.1, speed = 1, integrate = { t_end = 20 },
  bodies = { sim.block { low = {10, 14, 0}, high = {20, 18, 0}, pivot = {10, 10, 0} } } }
