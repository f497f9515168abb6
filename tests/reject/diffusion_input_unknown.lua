-- expect: 65 rates: unknown input 'u_xv', nearest is 'u_x', expected u, x, y, z, t, u_x, u_y, member, u_xx, u_yy, u_xy, lap_u
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  rates     = function(u, u_xv) return -u * u_xv end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
