-- expect: 65 option_calendar_today.lua:2: sim.calendar: today: expected a date such as "2026-03-02", got none
local c = sim.calendar { count = "ACT/360" }
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.european { strike = 100 } },
}
