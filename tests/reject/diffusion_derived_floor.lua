-- expect: 65 derived.p: expected a function that is linear in the fields
return sim.diffusion {
  grid      = { n = {16}, size = {1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  derived   = { p = function(u) return math.floor(u) end },
  rates     = function(u, p) return -u * p end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
