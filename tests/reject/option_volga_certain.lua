-- expect: 65 option_volga_certain.lua:3: assets[1].vol: it is 0 until a payoff's maturity, where greeks.volga is not defined: expected a small volatility, or no volga
return sim.option {
  assets = { { spot = 100, vol = 0 } },
  maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  greeks = { volga = true },
}
