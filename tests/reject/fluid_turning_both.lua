-- expect: 65 bodies[1].turning: expected one of spin and turning, got both
return sim.fluid {
  grid = { n = {40, 32}, size = {40, 32}, boundary = "wall" }, viscosity = 0.1, speed = 1, integrate = { t_end = 20 },
  bodies = { sim.ball { point = {20, 16, 0}, radius = 6, spin = 0.1,
    turning = function(t) return 0.1 end } } }
