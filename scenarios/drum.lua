-- A drum turns about the y axis and lifts the grains until they roll down: the angle of their surface grows with
-- friction. The drum is endless along its axis, as the box is periodic there.

local n        = sim.param("n", 600, "grains")
local friction = sim.param("friction", 0.5, "Coulomb's coefficient")
local turns    = sim.param("turns", 0.2, "of the drum in the run")
local R        = 0.05

return sim.collision {
  title   = "A tumbler",
  box     = { size = {0.12, 0.02, 0.12}, origin = {-0.06, 0, -0.06}, boundary = "open", y_low = "periodic", y_high = "periodic" },
  grains  = {
    sim.random_spheres { n = n, radii = {0.0018, 0.0022}, density = 2500, material = "glass",
                         low = {-0.045, 0, -0.045}, high = {0.045, 0.02, 0.045} },
  },
  walls   = { sim.cylinder { point = {0, 0, 0}, axis = {0, 1, 0}, radius = R, spin = 4, material = "drum" } },
  gravity = {0, 0, -9.81},
  contact = { law = "linear", contact_time = 3.5e-4, restitution = 0.6, friction = friction, rolling_friction = 0.02,
              pairs = { { a = "glass", b = "drum", friction = 0.9 } } },
  integrate = { dt = "auto", t_end = turns * 2 * math.pi / 4 },
  output    = { snapshots = "every 0.05", tables = "every 0.01" },
}
