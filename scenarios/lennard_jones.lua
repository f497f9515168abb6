-- Two crystals of argon atoms fly into each other, melt and become one drop. The law between the atoms is an ordinary
-- function of the square of their distance (J. E. Jones, Proc. R. Soc. A 106 (1924) 463). Units: the depth of the
-- potential, the distance at which it is zero, and an atom's mass.

local radius = sim.param("radius", 3.2, "of each crystal")
local speed  = sim.param("speed", 2, "of each of them")

local sites, edge = {}, 1.56 -- face-centred cubic
local most = math.floor(2 * radius / edge) + 1
for i = -most, most do
  for j = -most, most do
    for k = -most, most do
      local x, y, z = i * edge / 2, j * edge / 2, k * edge / 2
      if (i + j + k) % 2 == 0 and x^2 + y^2 + z^2 < radius^2 then sites[#sites + 1] = {x, y, z} end
    end
  end
end

local function crystal(name, x, y)
  local atoms = sim.each(#sites, function(i)
    local s = sites[i]
    return { mass = 1, position = {s[1] + x, s[2] + y, s[3]} }
  end)
  atoms.species = name
  atoms.velocity_field = function(x) return sim.where(sim.lt(x, 0), speed, -speed), 0, 0 end
  return atoms
end

return sim.nbody {
  title  = "Two drops",
  bodies = { crystal("left", -radius - 2, -1), crystal("right", radius + 2, 1) },
  pair   = function(r2)
    local s = 1 / r2^3
    return 4 * (s^2 - s)
  end,
  observe = {
    length  = { function(a) return sim.abs(a.x) end, reduce = "max" },
    heat    = { function(a) return (a.vy^2 + a.vz^2) / 2 end, reduce = "mean" }, -- temperature, in two directions
  },
  stop_when = function(o) return sim.gt(o.length, 30) end, -- something has flown away
  integrate = { scheme = "leapfrog", dt = 1/256, t_end = 24 },
  output    = { snapshots = "every 2", tables = "every 32 steps" },
}
