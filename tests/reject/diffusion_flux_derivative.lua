-- expect: 65 flux: takes u_z, and z is no axis of the grid
return sim.diffusion {
  grid      = { n = {16, 16}, size = {1, 1} },
  fields    = { { name = "u", D = 0.01, initial = 1 } },
  flux      = function(u_z) return u_z, u_z end,
  integrate = { scheme = "etdrk4", dt = 0.01, t_end = 1 },
}
