-- A column of grains collapses. Liquid bridges, from the first touch of two grains to rupture, hold wet sand together, and
-- grains resist rolling: `--set tension=0` lets it run out to a flat heap. The table `profile_density` shows the heap.

local n       = sim.param("n", 700, "grains")
local tension = sim.param("tension", 0.2, "surface tension of the liquid")
local mu_r    = sim.param("rolling", 0.1, "coefficient of rolling friction")
local r       = 0.002

local contact = { law = "linear", contact_time = 5e-4, restitution = 0.4, friction = 0.5,
                  rolling = { model = "sds", coefficient = mu_r, stiffness = 200, damping = 0.01 } }
if tension > 0 then
  contact.cohesion = { model = "liquid_bridge", surface_tension = tension, contact_angle = 0.2, volume = 1e-10 }
end

return sim.collision {
  title     = "A moist column",
  box       = { size = {0.16, 0.02, 0.1}, origin = {-0.08, 0, 0}, boundary = "wall", y_low = "periodic", y_high = "periodic",
                z_high = "open" },
  grains    = { sim.random_spheres { n = n, radii = {0.9 * r, 1.1 * r}, density = 2500,
                                     low = {-0.02, 0, 0}, high = {0.02, 0.02, 0.07} } },
  gravity   = {0, 0, -9.81},
  contact   = contact,
  profile   = { axis = "x", bins = 16 },
  integrate = { dt = "auto", t_end = 0.5 },
  output    = { snapshots = "every 0.05", tables = "every 0.01" },
}
