-- The Sun and its planets for a century, in real units.
--
-- Orbits: E. M. Standish, "Keplerian Elements for Approximate Positions of the Major Planets" (JPL, table 1), at
-- J2000: semi-major axis in au, eccentricity, then in degrees: inclination, mean longitude, longitude of perihelion,
-- longitude of the ascending node, to the ecliptic. The Earth's are those of the Earth-Moon barycentre.
-- Sun over planet in mass: IAU 2009 system of astronomical constants (with moons).

local years = sim.param("years", 100, "how long")

local planets = {
  --             a            e            i             L             perihelion    node           Sun/planet
  { "mercury",  0.38709927, 0.20563593,  7.00497902, 252.25032350,  77.45779628,  48.33076593, 6023600 },
  { "venus",    0.72333566, 0.00677672,  3.39467605, 181.97909950, 131.60246718,  76.67984255, 408523.719 },
  { "earth",    1.00000261, 0.01671123, -0.00001531, 100.46457166, 102.93768193,   0.0,        328900.56 },
  { "mars",     1.52371034, 0.09339410,  1.84969142,  -4.55343205, -23.94362959,  49.55953891, 3098703.59 },
  { "jupiter",  5.20288700, 0.04838624,  1.30439695,  34.39644051,  14.72847983, 100.47390909, 1047.348644 },
  { "saturn",   9.53667594, 0.05386179,  2.48599187,  49.95424423,  92.59887831, 113.66242448, 3497.9018 },
  { "uranus",  19.18916464, 0.04725744,  0.77263783, 313.23810451, 170.95427630,  74.01692503, 22902.98 },
  { "neptune", 30.06992276, 0.00859048,  1.77004347, -55.12002969,  44.96476227, 131.78422574, 19412.26 },
}

local k = 0.01720209895                             -- Gauss's constant: k^2 = G Msun in au^3/day^2

-- Position (au) and velocity (au/day) relative to the Sun.
local function state(a, e, i, L, perihelion, node, ratio)
  local rad = math.rad
  local M, w, O, I = rad(L - perihelion), rad(perihelion - node), rad(node), rad(i)
  local E = M
  for _ = 1, 50 do E = M + e * math.sin(E) end      -- Kepler's equation
  local b = math.sqrt(1 - e * e)
  local n = k * math.sqrt((1 + 1 / ratio) / a^3)    -- mean motion
  local rate = n / (1 - e * math.cos(E))
  local function turn(x, y)                         -- from the orbit's plane to the ecliptic
    local cw, sw, cO, sO, cI, sI = math.cos(w), math.sin(w), math.cos(O), math.sin(O), math.cos(I), math.sin(I)
    return { (cw * cO - sw * sO * cI) * x - (sw * cO + cw * sO * cI) * y,
             (cw * sO + sw * cO * cI) * x - (sw * sO - cw * cO * cI) * y,
             sw * sI * x + cw * sI * y }
  end
  return turn(a * (math.cos(E) - e), a * b * math.sin(E)),
         turn(-a * rate * math.sin(E), a * b * rate * math.cos(E))
end

-- The Sun moves so that the centre of mass is at rest in the origin.
local sun    = { species = "sun", mass = 1, position = {0, 0, 0}, velocity = {0, 0, 0} }
local bodies = { sun }
local total  = 1
for _, p in ipairs(planets) do
  local position, velocity = state(p[2], p[3], p[4], p[5], p[6], p[7], p[8])
  bodies[#bodies + 1] = { species = p[1], mass = 1 / p[8], position = position, velocity = velocity }
  total = total + 1 / p[8]
end
local centre, drift = {0, 0, 0}, {0, 0, 0}
for _, body in ipairs(bodies) do
  for c = 1, 3 do
    centre[c] = centre[c] + body.mass / total * body.position[c]
    drift[c]  = drift[c]  + body.mass / total * body.velocity[c]
  end
end
for _, body in ipairs(bodies) do
  for c = 1, 3 do
    body.position[c] = body.position[c] - centre[c]
    body.velocity[c] = body.velocity[c] - drift[c]
  end
end

return sim.nbody {
  title     = "The planets from J2000 on",
  units     = { length = "au", mass = "Msun", time = "day" },   -- and so G = 6.6743e-11 m^3 kg^-1 s^-2 in these
  bodies    = bodies,
  integrate = { scheme = "hermite4", dt = 0.5, t_end = years * 365.25 },
  output    = { snapshots = "every 200", tables = "every 100" },
}
