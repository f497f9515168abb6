-- expect: 65 option_dates_order.lua:4: payoffs[1]: dates: expected ascending times above 0, at most the maturity 1, got 0.25 after a time as late
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.barrier { strike = 100, level = 80, dates = { 0.5, 0.25 } } },
}
