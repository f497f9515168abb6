-- expect: 65 integrate.scheme: expected etd1, etdrk2 or etdrk4, because there is forcing, got rodas3: or write a force in `rates`
return sim.diffusion {
  grid      = { n = {16, 16}, size = {2 * math.pi, 2 * math.pi} },
  fields    = { { name = "u", D = 0.01, initial = function(x) return math.sin(x) end } },
  rates     = function(u) return -u end,
  forcing   = { fields = "u", k = {1, 2}, power = 1 },
  integrate = { scheme = "rodas3", dt = 0.01, t_end = 1 },
}
