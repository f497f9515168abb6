-- Two galaxies with dense cores pass each other. A core turns some thousand times while its halo turns once, so each body
-- makes steps of its own: dt, halved as often as its acceleration asks for. The energy's error grows steadily: with
-- n = 500, to 0.0007, 0.007 and 0.04 at t = 1, 5 and 20; eta = 0.05 makes it some ten times smaller.

local n     = sim.param("n", 1000, "bodies in each galaxy")
local steps = sim.param("steps", "individual", "or shared")
local dt    = sim.param("dt", 1/2, "longest step, or the step of all bodies")
local eta   = sim.param("eta", 0.1, "accuracy of individual steps")
local t_end = sim.param("t_end", 1.0, "the galaxies come within 3 of each other between 20 and 25")

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
  integrate = { scheme = "leapfrog", steps = steps, dt = dt, eta = steps == "individual" and eta or nil, t_end = t_end },
  output    = { snapshots = "ends", tables = "every 0.25", checkpoint = "never" },
}
