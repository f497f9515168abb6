-- expect: 65 derived: expected at most 8 functions, got 9
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  derived   = { p = function(u) return u end, a = function(u) return u end, b = function(u) return u end, c = function(u) return u end, d = function(u) return u end, e = function(u) return u end, f = function(u) return u end, g = function(u) return u end, i = function(u) return u end },
  rates     = function(u, p) return -u * p end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
