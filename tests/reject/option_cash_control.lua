-- expect: 65 option_cash_control.lua:3: assets[1]: sampling.control: expected "none" with cash dividends
return sim.option {
  assets = { { spot = 100, vol = 0.2, dividends = { { 0.5, 2 } } } }, maturity = 1, sampling = { control = "underlying" },
  payoffs = { sim.european { strike = 100 } },
}
