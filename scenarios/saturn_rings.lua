-- A patch of Saturn's B ring, in which the particles' own gravity makes wakes, clumps and strands that trail the rotation
-- by some 20 degrees (H. Salo, Nature 359 (1992) 619, Icarus 117 (1995) 287). x points away from Saturn, y along the orbit;
-- particles lose energy in collisions as ice does in the laboratory (Bridges et al., Nature 309 (1984) 333). Table `rings`
-- has the velocity dispersion and Toomre's Q, which wakes raise from 0.2 to between 1 and 2, and the time integral of the
-- viscosity. With restitution 0.5 and depth 0.5 it agrees within 30 % with what Daisaka, Tanaka and Ida (Icarus 154 (2001)
-- 296) found: 26 h^5 G^2 Sigma^2/omega^3 + r^2 omega tau, with the Hill radius h of two particles over their radii
-- together (test collision_hill_long). Metres, kilogrammes, seconds.

local n       = sim.param("n", 4000, "particles")
local tau     = sim.param("tau", 0.75, "optical depth")
local wakes   = sim.param("gravity", 1, "0: without self-gravity")
local orbits  = sim.param("orbits", 2.0, "revolutions about Saturn")
local r       = sim.param("radius", 1.0, "radius of a particle, m")
local density = sim.param("density", 900.0, "of a particle: solid ice, kg/m^3")
local omega   = sim.param("omega", 1.95e-4, "angular frequency of the orbit, at 100 000 km from Saturn, 1/s")
local lattice = sim.param("lattice", n > 2e5 and 1 or 0, "1: begin on a lattice, on which many particles are placed fast")

local side  = math.sqrt(n * math.pi * r^2 / tau)   -- of the patch: twice the critical wavelength of Toomre, 62 m
local H     = 40 * r
local orbit = 2 * math.pi / omega

return sim.collision {
  title     = "A patch of Saturn's rings",
  box       = { size = {side, side, H}, origin = {-side / 2, -side / 2, -H / 2}, z_low = "open", z_high = "open" },
  hill      = { omega = omega },
  self_gravity = wakes > 0 and { G = 6.674e-11, error = sim.param("error", 1e-2, "error of self-gravity") } or nil,
  grains    = { (lattice > 0 and sim.lattice or sim.random_spheres) { n = n, radius = r, density = density, low = {-side / 2, -side / 2, -4 * r},
                                     high = {side / 2, side / 2, 4 * r}, temperature = 4 / 3 * math.pi * r^3 * density * (r * omega)^2 } },
  contact   = { contact_time = orbit / 650,
                restitution_law = function(speed) return sim.min(0.34 * (speed / 0.01)^-0.234, 1) end },
  integrate = { steps_per_contact = 20, t_end = orbits * orbit },
  output    = { snapshots = ("every %g"):format(orbit / 4), tables = ("every %g"):format(orbit / 20) },
}
