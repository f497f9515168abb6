-- expect: 65 rates: the rate of v is
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = {
    { name = "u", D = 0.01, initial = function(x) return math.cos(2 * math.pi * x) end },
    { name = "v", D = 0.01 },
  },
  rates     = function(u, u_x) return -u * u_x, math.log(u_x) end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
