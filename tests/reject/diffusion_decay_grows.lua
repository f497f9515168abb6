-- expect: 65 fields[1]: modes of u at k = {0, 0, 0} grow by exp(800) in a step of dt = 1
return sim.diffusion {
  grid      = { n = {64, 64}, size = {1, 1} },
  fields    = { { name = "u", D = 1, decay = -800, initial = 1 } }, -- short waves decay
  rates     = function(u) return -u end,
  integrate = { scheme = "etdrk4", dt = 1, t_end = 1 },
}
