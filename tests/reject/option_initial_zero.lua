-- expect: 65 option_initial_zero.lua:4: payoffs[1].initial: expected
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.autocallable { level = 100, coupon = 0.1, protection = 50, dates = { 1 }, initial = 0 } },
}
