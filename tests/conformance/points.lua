-- Grains as points with a law of drag in a fluid between walls: kernels and what grains give cells are no state.
return sim.fluid {
  grid      = { n = {16, 14, 18}, size = {16, 14, 18}, z = "wall" },
  viscosity = 0.05,
  speed     = 0.1,
  drag      = "di_felice",
  initial   = function(x, y, z) return 0.02 * math.sin(math.pi * z / 9), 0, 0 end,
  grains    = { sim.random_spheres { n = 30, radii = {0.4, 0.8}, density = 4 } },
  gravity   = {0, 0, -2e-4},
  contact   = { contact_time = 6, restitution = 0.7, friction = 0.3 },
  integrate = { dt = 1, t_end = 60 },
  output    = { tables = "every 10 steps" },
}
