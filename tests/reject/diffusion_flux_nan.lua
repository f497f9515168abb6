-- expect: 65 flux: the flux of u along y is
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  flux      = function(u) return u, math.log(u - 2) end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
