-- expect: 65 flux: expected the number 0 as the flux of u along x, because a wall there has robin
return sim.diffusion {
  grid      = { n = {16}, size = {1}, boundary = "no_flux" },
  fields    = {
    { name = "u", D = 1, sides = { x_low = { robin = { a = 1 } } } },
  },
  flux      = function(u_x) return -u_x end,
  integrate = { scheme = "etd1", dt = 0.1, t_end = 1 },
}
