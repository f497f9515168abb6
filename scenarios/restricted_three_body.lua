-- Asteroids in the pull of the Sun and Jupiter: the restricted three-body problem. The two are no bodies here but a
-- potential that turns with time; the asteroids do not feel each other. They begin all around Jupiter's path, and most
-- keep to it: the Trojans about the points 60 degrees before and behind Jupiter, and horseshoes that go to and fro
-- between its two sides. Unit of time: Jupiter's year over 2 pi.

local n     = sim.param("n", 2000, "asteroids")
local years = sim.param("years", 100, "of Jupiter")
local mu    = 9.5387e-4 -- Jupiter's share of the mass

local function potential(x, y, z, t)
  local c, s = math.cos(t), math.sin(t)
  local sun     = sim.hypot(sim.hypot(x + mu * c, y + mu * s), z)
  local jupiter = sim.hypot(sim.hypot(x - (1 - mu) * c, y - (1 - mu) * s), z)
  return -(1 - mu) / sun - mu / sim.hypot(jupiter, 0.02)
end

local asteroids = sim.each(n, function(i)
  local angle, r = 2 * math.pi * 0.6180339887 * i, 0.97 + 0.06 * i / n
  return { mass = 1 / n, position = {r * math.cos(angle), r * math.sin(angle), 0} }
end)
asteroids.species = "asteroids"
asteroids.velocity_field = function(x, y)
  local v = 1 / sim.hypot(x, y) ^ 1.5 -- on circles about the Sun
  return -v * y, v * x, 0
end

return sim.nbody {
  title    = "Trojans",
  bodies   = { asteroids },
  external = potential,
  pair     = 0,
  observe  = {
    jacobi = { function(a) -- conserved, but in close encounters with Jupiter
      return (a.vx^2 + a.vy^2 + a.vz^2) / 2 + potential(a.x, a.y, a.z, a.t) - (a.x * a.vy - a.y * a.vx)
    end, reduce = "mean" },
    coorbital = { function(a) return sim.box(sim.hypot(a.x, a.y), 0.9, 1.1) end, reduce = "mean" },
  },
  integrate = { scheme = "leapfrog", dt = 2 * math.pi / 256, t_end = 2 * math.pi * years },
  output    = { snapshots = "every 1280 steps", tables = "every 64 steps" },
}
