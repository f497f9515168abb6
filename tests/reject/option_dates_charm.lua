-- expect: 65 option_dates_charm.lua:4: payoffs[1]: greeks.charm: where the run has dates, it moves them all
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4, greeks = { charm = true },
  payoffs = { sim.asian { strike = 100 }, sim.european { strike = 100, maturity = 0.5 } },
}
