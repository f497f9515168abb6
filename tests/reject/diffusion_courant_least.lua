-- expect: 65 diffusion_courant_least.lua:6: integrate.courant: expected at least 0.001
return sim.diffusion {
  grid       = { n = {16, 16}, size = {1, 1} },
  fields     = { { name = "u", D = 0.01 }, { name = "v", D = 0.01 } },
  rates      = function(u, v, u_x, v_x) return -u * u_x, -v * v_x end,
  integrate  = { scheme = "etdrk4", courant = 1e-300, velocity = "u, v", t_end = 1 },
}
