-- The Sun and its four outer planets for 200 000 years, in a second: Jupiter and Saturn exchange eccentricity in 54 000
-- years. `whfast` moves each planet along its Kepler orbit in steps of half a year and lets the others kick it; the energy's
-- error stays near 1e-6 for as long as you like (--set years=1e7). Table `orbits` has the elements about the Sun.
--
-- Orbits: E. M. Standish, "Keplerian Elements for Approximate Positions of the Major Planets" (JPL, table 1), at J2000.
-- Sun over planet in mass: IAU 2009 system of astronomical constants (with moons).

local years = sim.param("years", 200000, "how long")
local dt    = sim.param("dt", 0.5, "step in years")

-- Longitudes of planet and perihelion are counted from the x axis; anomaly and argument from perihelion and node.
local function planet(name, a, e, inc, longitude, perihelion, node, ratio)
  return { species = name, mass = 1 / ratio,
           orbit = { a = a, e = e, inc = inc, node = node, peri = perihelion - node, M = longitude - perihelion, primary = "sun" } }
end

return sim.nbody {
  title  = "Outer planets",
  bodies = {
    { species = "sun", mass = 1 },
    --                   a            e           inc         longitude     perihelion    node          Sun/planet
    planet("jupiter",  5.20288700, 0.04838624, 1.30439695,  34.39644051,  14.72847983, 100.47390909,  1047.348644),
    planet("saturn",   9.53667594, 0.05386179, 2.48599187,  49.95424423,  92.59887831, 113.66242448,  3497.9018),
    planet("uranus",  19.18916464, 0.04725744, 0.77263783, 313.23810451, 170.95427630,  74.01692503, 22902.98),
    planet("neptune", 30.06992276, 0.00859048, 1.77004347, -55.12002969,  44.96476227, 131.78422574, 19412.26),
  },
  recentre  = true,                               -- the Sun at rest would leave the barycentre behind: 66 au in 20 000 years
  gravity   = { G = 4 * math.pi^2 },              -- au, years, solar masses
  orbits    = "sun",
  integrate = { scheme = "whfast", dt = dt, t_end = years },
  output    = { snapshots = "every 1000", tables = "every 200" },
}
