-- expect: 65 option_exposure_steps.lua: steps: missing: exposure.every counts steps: expected their number, such as steps = 50
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  exposure = { every = 2 },
}
