return {name="nbody", draw=function() end, twins={}}
