-- expect: 65 integrate.rtol: has no effect: steps are by courant
return sim.diffusion {
  grid       = { n = {16, 16}, size = {1, 1} },
  fields     = { { name = "u", D = 0.01 }, { name = "v", D = 0.01 } },
  rates      = function(u, v, u_x, v_x) return -u * u_x, -v * v_x end,
  integrate  = { scheme = "etdrk4", courant = 0.5, velocity = "u, v", rtol = 1e-3, t_end = 1 },
}
