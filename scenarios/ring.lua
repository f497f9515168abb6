-- Bodies made one by one: a ring of small moons around a planet, by an ordinary Lua function of i. The moons are so
-- light that the ring is stable (J. C. Maxwell, 1859).

local n    = sim.param("n", 300, "moons")
local mass = 0.1 / n^3

local moons = sim.each(n, function(i)
  local angle = 2 * math.pi * i / n
  local c, s  = math.cos(angle), math.sin(angle)
  return { mass = mass, position = {c, s, 0}, velocity = {-s, c, 0} }
end)

moons.species = "moons"

return sim.nbody {
  title     = "Maxwell's ring",
  bodies    = { { species = "planet", mass = 1 }, moons },
  integrate = { scheme = "yoshida4", dt = 2 * math.pi / 256, t_end = 20 * math.pi },
  output    = { snapshots = "every 1", tables = "every 8 steps" },
}
