-- expect: 65 fields[1].linear: the linear part of u is infinite at k = {0, 0, 0}
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, linear = function(k2) return -1/k2 end, initial = 1 } },
  rates     = function(u) return -u end,
  integrate = { scheme = "etdrk4", dt = 0.1, t_end = 1 },
}
