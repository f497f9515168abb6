-- expect: 65 option_exposure_continuous.lua:4: payoffs[1]: exposure: not built for whether a continuous barrier has been reached (monitoring = "steps" has an exposure)
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.barrier { strike = 100, level = 80, monitoring = "continuous" } },
  exposure = { dates = { 0.5 } },
}
