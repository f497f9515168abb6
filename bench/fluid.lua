-- Waves in a periodic box of n^3 cells, and one feature at a time: for the rates of fluids in docs/performance.md.
local n         = sim.param("n", 256, "cells along each axis")
local what      = sim.param("what", "plain", "one feature: see `kinds`")
local precision = sim.param("precision", "single", "single, double or half")
local collision = sim.param("collision", "regularised", "regularised or trt")
local lattice   = sim.param("lattice", "auto", "auto or D3Q27")
local radius    = sim.param("radius", 0.2, "of the ball, in widths of the box; 0: none beside plates and flux")
local stl       = sim.param("stl", "ball.stl", "file of the body of `stl`, around the origin, with the radius 1")
local rock      = sim.param("rock", "rock.h5", "file of `rock`: a dataset `rock` of n^3 numbers, solid above 0.5")

local plates, sponge = what == "plates" or what == "flux", what == "sponge"
local middle = {0.5, 0.5, 0.5}
local kinds = { plain = 1, force = 1, eddies = 1, ball = 1, stl = 1, rock = 1, heat = 1, plates = 1, flux = 1,
                sponge = 1, grains = 1 }
assert(kinds[what], "what: unknown: " .. what)

local model = {
  precision = precision, collision = collision, lattice = lattice,
  grid      = { n = {n, n, n}, size = {1, 1, 1}, x = sponge and "wall" or "periodic",
                z = plates and "wall" or "periodic" },
  viscosity = 1e-3,
  speed     = 0.1,
  initial   = function(x, y, z) return 0.05 * math.sin(2*math.pi*y), 0.03 * math.sin(2*math.pi*z), 0 end,
  integrate = { t_end = 1e3 },
  output    = { snapshots = "never", tables = "never", checkpoint = "never" },
}
if what == "force" then model.acceleration = {1e-4, 0, 0} end
if what == "eddies" then model.turbulence = { smagorinsky = 0.16 } end
if what == "stl" then model.bodies = { sim.stl { path = stl, scale = radius, shift = middle } } end
if what == "rock" then model.solid = { path = rock, dataset = "rock", threshold = 0.5 } end
if what == "ball" or plates and radius > 0 then
  model.bodies = { sim.ball { point = middle, radius = radius, temperature = what == "plates" and 0.5 or nil,
                              flux = what == "flux" and 1e-3 or nil } }
end
if sponge then model.sides = { x_low = { velocity = {0.05, 0, 0} }, x_high = { pressure = 0, sponge = 0.1 } } end
if what == "heat" or plates or sponge then
  model.heat = { diffusivity = 1e-3, expansion = 1, gravity = {0, 0, -0.01}, x_low = sponge and 0.5 or nil,
                 z_low = what == "plates" and 0 or nil, z_high = plates and 1 or nil,
                 flux = what == "flux" and { z_low = 1e-3 } or nil,
                 initial = function(x, y, z) return math.sin(2*math.pi*x) end }
end
if what == "grains" then
  model.grains  = { sim.random_spheres { n = 512, radius = 8 / n, density = 2 } }
  model.contact = { contact_time = 0.1, restitution = 0.9 }
end
return sim.fluid(model)
