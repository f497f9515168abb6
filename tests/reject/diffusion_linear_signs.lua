-- expect: 65 fields[1]: modes of u at k = {24, -32, 0} grow by exp(704) in a step of dt = 1
return sim.diffusion {
  grid      = { n = {64, 64}, size = {2*math.pi, 2*math.pi} },
  fields    = { { name = "u", linear = function(kx, ky) return -kx*ky - (kx + ky)^2 end, initial = 1 } },
  rates     = function(u) return -u end,
  integrate = { scheme = "etdrk4", dt = 1, t_end = 1 },
}
