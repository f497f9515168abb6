-- expect: 65 option_method_alone.lua:5: greeks.method: there is no Greek to estimate
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  greeks = { method = "bump" },
}
