-- expect: 65 diffusion_rules_together.lua:6: rates: expected 1 result
-- lines: 4
return sim.diffusion {
  grid      = { n = {16}, size = {1}, y = "fixed" },
  fields    = { { name = "u", D = 0.01, tensor = {1, 0, 0} } },
  rates     = function(u) return u, u end,
  observe   = { a = function(w) return w end },
  integrate = { scheme = "etdrk4", dt = 0.1, t_end = 1 },
}
