-- Two disk galaxies of 50,100 bodies each pass through each other, fall back and merge: a minute on two cores, because fast
-- multipoles compute the forces. A million bodies on a GPU: --set n=166700.
--
-- Unit of length: a disk's scale length (3 kpc, say). Unit of mass: a disk's mass. G = 1.

local n = sim.param("n", 16700, "stars in each disk; each halo has twice as many bodies")
local t_end = sim.param("t_end", 16, "the disks first meet at about 4.5 and stay within about a scale length from 15 on")

local function galaxy(name, place)
  return sim.exponential_disk {
    species = name, n = n, mass = 1, radius = 1, thickness = 0.15, Q = 1.4,
    halo = { species = name .. "_halo", n = 2 * n, mass = 5, radius = 3, cutoff = 30 },
    position = place.position, velocity = place.velocity, rotation = place.rotation,
  }
end

return sim.nbody {
  title = "Merger of two disk galaxies",
  seed = 1,
  precision = "single",

  bodies = {
    galaxy("west", { position = {-4, 0, 0}, velocity = { 0.6, -0.1, 0}, rotation = {0, 25, 0} }),
    galaxy("east", { position = { 4, 0, 0}, velocity = {-0.6,  0.1, 0}, rotation = {60, 0, 30} }),
  },
  gravity   = { softening = 0.1, error = 1e-3 },
  integrate = { scheme = "leapfrog", dt = 1/16, t_end = t_end },
  output    = { snapshots = "every 2.5", tables = "every 2.5", checkpoint = "every 5 min" },
}
