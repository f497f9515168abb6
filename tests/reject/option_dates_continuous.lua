-- expect: 65 option_dates_continuous.lua:4: payoffs[1]: dates: are for monitoring = "steps"
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.lookback { monitoring = "continuous", dates = { 0.5, 1 } } },
}
