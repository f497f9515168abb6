-- expect: 65 fields[1]: modes of u at k = {31.4159, 0, 0} grow by exp(987) in a step of dt = 1
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", linear = function(k2) return k2 end, initial = 1 } },
  rates     = function(u) return -u end,
  integrate = { scheme = "etdrk4", dt = 1, t_end = 1 },
}
