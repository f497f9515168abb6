-- Clumps and a grain in a box with walls: bodies are state, beside contacts with history.
return sim.collision {
  box       = { size = {4, 4, 4}, boundary = "wall", x_low = "periodic", x_high = "periodic" },
  grains    = { sim.clumps { n = 6, spheres = { {-0.3, 0, 0, 0.3}, {0.3, 0, 0, 0.3}, {0, 0.4, 0, 0.3} }, temperature = 1 },
                { radius = 0.3, position = {2, 2, 3.5}, velocity = {1, 0, 0}, species = "round" },
                sim.clump { spheres = { {0, 0, 0, 0.2}, {0.4, 0, 0, 0.2} }, position = {0.1, 0.5, 0.5}, angular_velocity = {5, 1, 2} } },
  gravity   = {1, 0, -5},
  contact   = { stiffness = 400, restitution = 0.6, friction = 0.4, rolling_friction = 0.1 },
  integrate = { dt = 0.002, t_end = 0.4 },
  output    = { tables = "every 20 steps" },
}
