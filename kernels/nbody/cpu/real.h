/* `real`: the type that a source is compiled for; NBODY_SINGLE (set by CMake) is 1 for float, 0 for double. */
#ifndef NBODY_REAL_H
#define NBODY_REAL_H

#if NBODY_SINGLE
typedef float real;
#else
typedef double real;
#endif

#endif
