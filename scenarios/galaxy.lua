-- Two disk galaxies fall together, swing past each other and grow tidal tails. With --set t_end=40 they merge.
--
-- Unit of length: a disk's scale length (3 kpc, say). Unit of mass: a disk's mass. G = 1.

local n = sim.param("n", 3600, "stars in each disk; each halo has twice as many bodies")
local t_end = sim.param("t_end", 28, "the disks fall together again at about 28")

-- A disk in equilibrium inside its halo of dark matter. It turns counter-clockwise about its z axis;
-- `rotation` tilts it by that many degrees about that vector.
local function galaxy(name, place)
  return sim.exponential_disk {
    species = name, n = n, mass = 1, radius = 1, thickness = 0.15, Q = 1.4,
    halo = { species = name .. "_halo", n = 2 * n, mass = 5, radius = 3, cutoff = 30 },
    position = place.position, velocity = place.velocity, rotation = place.rotation,
  }
end

return sim.nbody {
  title = "Collision of two disk galaxies",
  seed = 1,
  precision = "single",

  bodies = {
    galaxy("west", { position = {-8, 0, 0}, velocity = { 0.42, -0.20, 0}, rotation = {0, 25, 0} }),
    galaxy("east", { position = { 8, 0, 0}, velocity = {-0.42,  0.20, 0}, rotation = {60, 0, 30} }),
  },
  gravity   = { softening = 0.08 },
  integrate = { scheme = "leapfrog", dt = 1/32, t_end = t_end },
  output    = { snapshots = "every 0.25", tables = "every 0.5", checkpoint = "every 5 min" },
}
