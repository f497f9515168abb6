-- expect: 65 option_vega_bucket_flat.lua:6: greeks.vega_bucket: expected an asset with vol = sim.curve { {t, value}, ... }, or a file of its points
return sim.option {
  assets = { { spot = 100, vol = function(t) return 0.2 + 0.1 * t end } },
  maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  greeks = { vega_bucket = true },
}
