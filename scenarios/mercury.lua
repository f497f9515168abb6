-- Mercury's perihelion advances by 42.98 arc seconds a century, as general relativity says: the term of order 1/c^2 of the
-- Sun's attraction is an acceleration that depends on the velocity, which `ias15` takes.
-- Over the 415 orbits of a century `peri_mercury` in the table `orbits` goes up by 42.98/3600 = 0.011939 degrees. (The other
-- planets add 532 arc seconds, and are left out.) Rows are one orbit apart: within an orbit the osculating ellipse breathes.
--
-- a = -mu r/r^3 + mu/(c^2 r^3) ((4 mu/r - v^2) r + 4 (r.v) v), for a body without mass in harmonic coordinates
-- (A. Einstein, Sitzungsber. Preuss. Akad. Wiss. (1915) 831; advance a turn: 6 pi mu / (c^2 a (1 - e^2))).

local orbits = sim.param("orbits", 415, "turns of Mercury")

local k  = 0.01720209895                            -- Gauss's constant: k^2 = G Msun in au^3/day^2
local mu = k^2
local c  = 173.14463                                -- speed of light, au/day
local a, e = 0.38709893, 0.20563069

return sim.nbody {
  title  = "The perihelion of Mercury",
  bodies = {
    { species = "sun", mass = 1 },
    { species = "mercury", mass = 0, orbit = { a = a, e = e, inc = 7, node = 48, peri = 29 } },
  },
  gravity  = { G = mu },
  external = function(x, y, z, vx, vy, vz)
    local r2 = x^2 + y^2 + z^2
    local sun = sim.lt(r2, 1e-6)                    -- the Sun itself, at the origin, feels nothing
    local r = math.sqrt(sim.where(sun, 1, r2))
    local unit = sim.where(sun, 0, mu / (c^2 * r^3))
    local radial, along = 4 * mu / r - (vx^2 + vy^2 + vz^2), 4 * (x * vx + y * vy + z * vz)
    return unit * (radial * x + along * vx), unit * (radial * y + along * vy), unit * (radial * z + along * vz)
  end,
  orbits    = "sun",
  integrate = { scheme = "ias15", dt = "adaptive", t_end = orbits * 2 * math.pi / k * a^1.5 },
  output    = { snapshots = "every 4", tables = string.format("every %.17g", 2 * math.pi / k * a^1.5) },
}
