-- expect: 65 option_vega_certain.lua:3: assets[1].vol: it is 0 until a payoff's maturity
return sim.option {
  assets = { { spot = 100, vol = 0 } }, maturity = 1, steps = 12,
  payoffs = { sim.volatility_swap { strike = 0.2 } },
  greeks = { vega = true },
}
