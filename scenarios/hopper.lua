-- A hopper runs out: grains rain in from above, leave through a hole of diameter D in the cone's tip, and are taken away
-- below. Table `flow` holds what has passed the hole; Beverloo's law says that the rate grows as (D - 1.4 d)^(5/2).

local D      = sim.param("D", 0.02, "diameter of the hole")
local filled = sim.param("filled", 600, "grains at the start")
local rate   = sim.param("rate", 600, "grains a second from above")
local d      = 0.004

return sim.collision {
  title   = "A hopper",
  box     = { size = {0.08, 0.08, 0.16}, origin = {-0.04, -0.04, -0.04}, boundary = "open", z_low = "outlet" },
  grains  = { sim.random_spheres { n = filled, radii = {0.45 * d, 0.55 * d}, density = 2500,
                                   low = {-0.018, -0.018, 0.03}, high = {0.018, 0.018, 0.09} } },
  walls   = {
    sim.cone { point = {0, 0, 0}, axis = {0, 0, 1}, length = 0.02, radius = D / 2, end_radius = 0.03 },
    sim.cone { point = {0, 0, 0.02}, axis = {0, 0, 1}, length = 0.1, radius = 0.03, end_radius = 0.03 },
  },
  insert  = { sim.inlet { rate = rate, radii = {0.45 * d, 0.55 * d}, density = 2500,
                          low = {-0.018, -0.018, 0.1}, high = {0.018, 0.018, 0.118}, velocity = {0, 0, -0.3} } },
  gates   = { { point = {0, 0, 0}, normal = {0, 0, -1} } },
  gravity = {0, 0, -9.81},
  contact = { law = "linear", contact_time = 2.5e-4, restitution = 0.6, friction = 0.4, rolling_friction = 0.05 },
  integrate = { dt = "auto", t_end = 0.4 },
  output    = { snapshots = "every 0.05", tables = "every 0.01" },
}
