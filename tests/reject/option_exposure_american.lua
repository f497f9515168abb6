-- expect: 65 option_exposure_american.lua:4: payoffs[1]: exposure: not built for the rule of early exercise on several assets, or by a function
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.american { strike = 100, on = "best_of" } },
  exposure = { dates = { 0.5 } },
}
