-- Pressure in rock with fractures that let it spread a thousand times as fast: u_t = div(D grad u), with D from 0.001 in the
-- rock to 1 in the fractures. An explicit step would be shorter than 2.785/(2 (128 pi)^2) = 8.6e-6; implicit steps are as long
-- as the error allows.

local rock, width = 0.001, 0.012

-- A fracture from x = 0 to a tip: 1 on it, 0 in the rock.
local function fracture(x, y, height, slope, bend, tip)
  local away = y - height - slope * x - bend * math.sin(5 * x)
  return math.exp(-(away / width)^2) / (1 + math.exp(60 * (x - tip)))
end

local function D(x, y)
  return rock + (1 - rock) * sim.max(sim.max(fracture(x, y, 0.25, 0.1, 0.04, 0.9), fracture(x, y, 0.3, 0.45, 0.03, 0.7)),
                                     fracture(x, y, 0.8, -0.3, 0.05, 0.6))
end

return sim.diffusion {
  title     = "Fractured rock",
  grid      = { n = {128, 128}, size = {1, 1}, boundary = "no_flux" },
  -- the borehole along x = 0 is held at 1; nothing goes through the other walls
  fields    = { { name = "p", sides = { x_low = { value = 1 } } } },
  flux      = function(p_x, p_y, x, y) return -D(x, y) * p_x, -D(x, y) * p_y end,
  integrate = { scheme = "rodas3", t_end = 2, rtol = 1e-3, atol = 1e-4 },
  output    = { snapshots = "every 0.1", tables = "every 0.05" },
}
