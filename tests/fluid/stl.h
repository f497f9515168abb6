/* Closed surfaces as STL files, for tests of bodies. */
#ifndef TESTS_FLUID_STL_H
#define TESTS_FLUID_STL_H

/* Writes a text file of a block between two corners, 12 triangles; with `extra` a second block of these corners. */
void stl_block(const char *path, const double low[3], const double high[3], const double (*extra)[3]);
/* Writes a binary file of a sphere: an icosahedron whose triangles are cut in four `cuts` times, with all corners at
 * distance r. Returns the radius of the ball inside. */
double stl_sphere(const char *path, const double centre[3], double r, int cuts);

#endif
