-- expect: 65 option_dates_none.lua:4: payoffs[1]: dates: expected one or more, got an empty list
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.autocallable { level = 100, coupon = 0.05, protection = 0, dates = {} } },
}
