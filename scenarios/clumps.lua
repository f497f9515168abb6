-- Tetrapods, rods and round grains fall into a box and come to rest. Clumps are rigid bodies of spheres: a tetrapod, as on
-- sea walls, is four spheres about a fifth that overlaps them. Its mass, centre and inertia are those of the union, sampled
-- by lines through it; those of a rod, whose spheres only touch, are exact. energy.rotational shows how they stop turning.

local n = sim.param("n", 30, "bodies of each kind")
local r = 0.01

local a, b = 0.62 * r, 0.62 * r -- arms of the tetrapod, and their spheres
local tetrapod = { {0, 0, 0, b}, {a, a, a, b}, {a, -a, -a, b}, {-a, a, -a, b}, {-a, -a, a, b} }
local rod = { {-1.2 * r, 0, 0, 0.6 * r}, {0, 0, 0, 0.6 * r}, {1.2 * r, 0, 0, 0.6 * r} }
local low, high = {0, 0, 0}, {0.16, 0.1, 0.3}

return sim.collision {
  title   = "Tetrapods, rods and spheres",
  box     = { size = {0.16, 0.1, 0.3}, boundary = "wall", y_low = "periodic", y_high = "periodic", z_high = "open" },
  grains  = {
    sim.clumps { species = "tetrapods", n = n, spheres = tetrapod, density = 2500, low = low, high = high },
    sim.clumps { species = "rods", n = n, spheres = rod, density = 2500, low = low, high = high },
    sim.random_spheres { species = "spheres", n = n, radius = 0.85 * r, density = 2500, low = low, high = high },
  },
  gravity = {0, 0, -9.81},
  contact = { law = "linear", stiffness = 6e4, restitution = 0.3, friction = 0.5, rolling_friction = 0.02 },
  integrate = { dt = "auto", steps_per_contact = 25, t_end = 0.6 },
  output    = { snapshots = "every 0.1", tables = "every 0.01" },
}
