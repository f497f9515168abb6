-- A settled bed with one more thing that a scenario may ask for:
--   sim run bench/grains.lua --device cuda --set more=inlet
--   sim run bench/grains.lua --set law=hertz --set more=jkr
local more  = sim.param("more", "none", "none, moving, external, own, inlet, gate, shear, rolling, twisting, sds, dmt, jkr, well, bridge")
local law   = sim.param("law", "linear", "linear or hertz")
local n     = sim.param("n", 1000000, "grains, 20 in a column")
local steps = sim.param("steps", 1000, "steps")
local side  = math.floor((n / 20)^0.5)
local bed = {
  precision = "single",
  box       = { size = {side, side, 60}, origin = {0, 0, -10}, boundary = "periodic", z_low = "open", z_high = "open" },
  grains    = { sim.lattice { n = 20 * side * side, radius = 0.5, density = 6 / math.pi, temperature = 0.01,
                              low = {0, 0, 0.1}, high = {side, side, 20.1} } },
  walls     = { sim.plane { point = {0, 0, 0}, normal = {0, 0, 1}, velocity = {0, 0, more == "moving" and 1e-6 or 0} } },
  gravity   = {0, 0, -1},
  contact   = { law = "linear", stiffness = 2e4, restitution = 0.5, friction = 0.5 },
  integrate = { dt = 1e-3, t_end = steps * 1e-3 },
  output    = { tables = "never", snapshots = "never", checkpoint = "never" },
}
if more == "external" then bed.external = function(x, y, z, t) return 0.1 * z end end
if more == "own" then
  bed.contact = { law = "own", stiffness = 2e4, friction = 0.5,
                       force = function(overlap, rate, radius, mass) return 2e4 * overlap + 50 * mass * rate end }
end
if more == "inlet" then
  bed.insert = { sim.inlet { rate = 1000, radius = 0.5, density = 2, velocity = {0, 0, -3},
                                  low = {1, 1, 30}, high = {side - 1, side - 1, 40} } }
end
if more == "gate" then bed.gates = { { point = {0, 0, 10}, normal = {0, 0, 1} } } end
if more == "shear" then bed.box.shear_rate = 0.01 end
local c = bed.contact
if law == "hertz" then c.law, c.stiffness, c.young, c.poisson = "hertz", nil, 4e4, 0.3 end
if more == "rolling" then c.rolling_friction = 0.1 end
if more == "twisting" then c.twisting_friction = 0.1 end
if more == "sds" then c.rolling = { model = "sds", stiffness = 200, damping = 0.1, coefficient = 0.05 } end
if more == "dmt" or more == "jkr" then c.cohesion = { model = more, surface_energy = 1e-3 } end
if more == "well" then c.cohesion = { model = "square_well", energy = 1e-4, range = 0.01 } end
if more == "bridge" then
  c.cohesion = { model = "liquid_bridge", surface_tension = 0.01, contact_angle = 0.2, volume = 1e-5 }
end
return sim.collision(bed)
