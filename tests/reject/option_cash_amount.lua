-- expect: 65 option_cash_amount.lua:3: assets[1].dividends: expected amounts from 0 to below the spot 100, got 120
return sim.option {
  assets = { { spot = 100, vol = 0.2, dividends = { { 0.5, 120 } } } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
}
