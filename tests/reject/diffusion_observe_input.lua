-- expect: 65 observe.a: unknown input 'q', expected u, x, y, z, t, u_x, u_y, member, u_xx, u_yy, u_xy, lap_u
return sim.diffusion {
  grid      = { n = {16, 8}, size = {1, 1}, x = "no_flux" },
  fields    = { { name = "u", D = 1, initial = 1 } },
  observe   = { a = function(q) return q end },
  integrate = { t_end = 1 },
}
