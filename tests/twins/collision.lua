return {name="collision", draw=function() end, twins={}}
