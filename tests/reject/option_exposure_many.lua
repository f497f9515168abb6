-- expect: 65 option_exposure_many.lua:5: exposure: expected at most 32 dates, with time 0 and the maturities of the contracts, got 101
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 100,
  payoffs = { sim.european { strike = 100 } },
  exposure = { every = 1 },
}
