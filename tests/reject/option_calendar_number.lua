-- expect: 65 option_calendar_number.lua:3: calendar.time: expected a date such as "2026-03-02", got number
local c = sim.calendar { today = "2026-03-02" }
local t = c.time(46000)
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.european { strike = 100 } },
}
