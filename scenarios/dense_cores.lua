-- Two galaxies with dense cores pass each other. A star of a core turns in a hundredth of the time of one in the halo, so
-- each body makes steps of its own: dt, halved as often as its acceleration asks for.

local n     = sim.param("n", 1000, "bodies in each galaxy")
local steps = sim.param("steps", "individual", "or shared")
local dt    = sim.param("dt", 1/2, "longest step, or the step of all bodies")
local eta   = sim.param("eta", 0.1, "accuracy of individual steps")
local t_end = sim.param("t_end", 1.0, "they are nearest to each other at about 20")

-- A fiftieth of the bodies, with three hundredths of the mass, are the core.
local function galaxy(name, place, velocity)
  local core = n // 50
  return sim.hernquist { species = name .. "_halo", n = n - core, mass = 0.97, radius = 6, cutoff = 60,
                         position = place, velocity = velocity },
         sim.plummer { species = name .. "_core", n = core, mass = 0.03, radius = 0.02, cutoff = 0.2,
                       position = place, velocity = velocity }
end

local west_halo, west_core = galaxy("west", {-8, 2, 0}, { 0.3, 0, 0})
local east_halo, east_core = galaxy("east", { 8,-2, 0}, {-0.3, 0, 0})

return sim.nbody {
  title     = "Two galaxies with dense cores",
  seed      = 1,
  precision = "mixed",
  bodies    = { west_halo, west_core, east_halo, east_core },
  gravity   = { softening = 0.006, error = 3e-5 },
  integrate = { scheme = "leapfrog", steps = steps, dt = dt, eta = eta, t_end = t_end },
  output    = { snapshots = "ends", tables = "every 0.25", checkpoint = "never" },
}
