-- expect: 65 option_cash_continuous.lua:4: payoffs[1]: expected monitoring = "steps" with cash dividends
return sim.option {
  assets = { { spot = 100, vol = 0.2, dividends = { { 0.5, 2 } } } }, maturity = 1,
  payoffs = { sim.barrier { strike = 100, level = 80, monitoring = "continuous" } },
}
