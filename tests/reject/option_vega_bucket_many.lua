-- expect: 65 option_vega_bucket_many.lua:8: greeks.vega_bucket: expected at most 64 nodes together, got 65
local points = {}
for i = 1, 65 do points[i] = { i / 65, 0.2 + 0.001 * i } end
return sim.option {
  assets = { { spot = 100, vol = sim.curve(points) } },
  maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  greeks = { vega_bucket = true },
}
