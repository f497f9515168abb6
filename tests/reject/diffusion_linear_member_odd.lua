-- expect: 65 fields[1].linear: expected a real part that is the same at k and -k, and an imaginary one that changes its sign, as a real field has (member 2)
return sim.diffusion {
  members   = 2,
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", linear = function(kx, member) return -kx * (member - 1) end, initial = 1 } },
  rates     = function(u) return 0 * u end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
