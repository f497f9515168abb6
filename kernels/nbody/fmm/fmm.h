/* Fast multipole method for gravity, in open space or in a periodic box: its settings, and the definition of its
 * arithmetic. A CPU and a GPU that follow this definition give the same bits in fp64. operators.inc has the operators.
 *
 * H. Cheng, L. Greengard and V. Rokhlin, J. Comput. Phys. 155 (1999) 468; W. Dehnen, J. Comput. Phys. 179 (2002) 27.
 *
 *   n, x, m, h   number of bodies; position and mass of a body; softening
 *   P, theta, w  settings: order of the expansions, opening angle, weight of the target's radius
 *   leaf         settings: most bodies in a leaf
 *   B            edge of the periodic box
 *   P2M, M2M     moments of a leaf from its bodies, of a cell from its children
 *   M2L          field about a target cell's centre from the moments of a distant source cell
 *   L2L, L2P     field of a child from the field of its parent, field at a body
 *   near pairs   sums over pairs of bodies whose cells are too close for M2L (P2P)
 *   strands      partial sums. "Closed by halves": S strands are added as s[i] + s[i + S/2], then s[i] + s[i + S/4],
 * and so on
 *
 * Frame. L = the greatest of the three extents of the positions and of 2^-10 h. E = the least power of two above L (1
 * for L = 0). A body is at X = (x - o) / E, with o_c = E trunc((low_c / 2 + high_c / 2) / E). X is computed in fp64 and
 * rounded to `real`. `real` is float for forces in precision single and mixed, and double for all else, with one
 * exception: on a CPU, in precision single and open space, the potential is in float if the tree in float has no cells
 * below level 12. The low corner of the root is the least X of each axis. Masses are divided by M = 2^(e + f): 2^e is
 * the least power of two above the greatest mass, 2^f the least power of two that is at least n. H = h / E. All that
 * follows is in these units and in `real`.
 *
 * Keys. A key has 21 bits of each axis: floor(2^21 (X - low)), computed in fp64, at most 2^21 - 1. Bit 3 b + 2 of the
 * key is bit b of the x axis, 3 b + 1 of the y axis, 3 b of the z axis. Bodies are sorted by key; bodies of equal keys
 * keep their order.
 *
 * Tree. The root, at level 0, is a cube of edge 1. A cell of level l has the edge e = 2^-l. A cell of more than one
 * body splits if its level is below NBODY_FMM_LEVEL_MAX and one of two conditions holds: it has more than `leaf`
 * bodies, or its level is below l0 = ceil(log8(n / leaf)), the least l with leaf 8^l >= n. Its children are the octants
 * that have bodies, in the order of keys. Cells are numbered level by level, in the order of their keys.
 *
 * Centres, radii and moments.
 *   centre of a leaf: body i, from 0 within the leaf, is added to strand i mod 8: W = W + m, C_k = fma(m, X_k - X0_k,
 *     C_k), with X0 the first body. Strands are closed by halves; c_k = X0_k + C_k / W. With W = 0: c = X0.
 *   centre of an inner cell: over its children in order W = W + W_i, C_k = fma(W_i, c_ik - c0_k, C_k), with c0 the
 *     centre of the first child; c_k = c0_k + C_k / W. With W = 0: c = c0.
 *   radius: a = (1 + 2^-19) sqrt(d2) for a leaf, d2 the greatest of fma(dz, dz, fma(dy, dy, dx dx)) over its bodies, d
 * = X - c. For an inner cell a = (1 + 2^-19) times the greatest of sqrt(d2) + r_i over its children, d = c_i - c. r =
 * max(a, e / 32), so that no accepted cell is near enough for fp32 to overflow. moments of a leaf: P2M of body i into
 * strand i mod 8, with t = (c - X) / e, from 0; closed by halves. moments of an inner cell: M2M of its children in
 * order, with t = (c - c_i) / e, from 0.
 *
 * Lists of a target cell A. They are made from a queue. The queue of the root holds the root. The queue of another cell
 * holds, for each cell that its parent left open, in order, the children of that cell, or the cell itself if it is a
 * leaf. Cells B are taken from the front. With d = c_A - c_B and d2 = fma(dz, dz, fma(dy, dy, dx dx)), B joins A's far
 * list if q q < theta^2 d2, where q = fma(w, r_A, r_B) and theta^2 is the rounded square of the rounded theta. If not:
 * an inner cell A leaves B open; a leaf A appends the children of an inner B to its queue, and a leaf B to its near
 * list.
 *
 * Far field. Source i of the far list is added to strand i mod 32: its moments, in units of A's edge, are contracted
 * with the tensor of x = (c_A - c_B) / e_A and h2 = (H / e_A)^2. Strands begin at 0 and are closed by halves. The
 * field of A is the field of its parent, shifted by L2L with t = (c_A - c_parent) / e_parent, plus this sum (of the
 * root: this sum). Scaling is by powers of two, hence exact, and may be done in any way that neither over- nor
 * underflows: in fp32, where e_B > 8 e_A, the tensor is computed in units of e_B and then scaled. For forces of order 6
 * in fp32 a CPU leaves out the moments of rank 5.
 *
 * Near pairs. For a body of leaf A the sum begins with a = L2P / (e_A e_A), t = (X - c) / e_A, where 1 / e_A^2 is
 * exact. The near list is cut into pieces of 32 cells. Body f of a piece, from 0 over all its cells, is added to strand
 * f mod 4: d = X_f - X, s2 = fma(dz, dz, fma(dy, dy, fma(dx, dx, H H))), y = 1 / sqrt(s2), g = (m y) (y y), s_k =
 * fma(g, d_k, s_k). The target itself is left out by its index, and its number f stays used; another body at its
 * position without softening therefore gives an infinity or NaN. At the end of a piece (s0 + s2) + (s1 + s3) is added
 * to a. The acceleration is (double)a (G M / E^2), the factor rounded once. Potential: p = L2P / e_A, terms s = fma(m,
 * y, s), in the same strands and pieces. U = -(1/2) (G M M / E) times the sum of m p over the bodies, in the state's
 * order, by sim_reduce_sum. A GPU adds the terms cell by cell, and where forces are in fp32 its tree for the potential
 * has leaves of twice as many bodies. In fp32, and for the potential, a device may use any 1 / sqrt.
 *
 * Forces on some bodies (individual steps). The first such force after a force on all bodies builds a tree. The next
 * NBODY_FMM_REFITS such forces keep its frame, its cells and the order of its bodies; they compute centres, radii and
 * moments from the new positions. Only cells with a target have lists and fields, and only targets are summed.
 *
 * Periodic box of edge B. The frame is the box: X = x k, with k = 1 / B rounded, computed in fp64 and then rounded to
 * `real`; low = 0; E = B; H = h k. An entry of a list is a cell with a shift of components 0, 1 or -1, whose code is
 * s_x
 * + 3 s_y + 9 s_z, with 2 for -1. The queue of the root holds the root with codes 0 to 26; children have the code of
 * their parent. A source with shift s has its centre at c_B + s and its bodies at X + s, rounded. The target itself is
 * left out only of its own leaf with code 0. So the lists sum 27 softened images of every body.
 *
 * Outer images are all images but these 27, together with a background of the opposite density and conducting
 * surroundings. Their tensor T, the derivatives of E of periodic/lattice.h without those 27, is a smooth function of
 * positions in the box. But expansions about one centre converge slowly, as (3^(1/2) / 2)^rank in opposite corners.
 * Therefore the box is cut into 4^3 cubes, by the first two bits of each axis in the keys, and T is expanded to rank 8
 * for each pair of cubes. All of this is in fp64 for every precision, without fused operations, in units of a cube's
 * edge. With t = 4 X - (cube + 1/2), from the centre of the cube: t^e / e! = (t^(e-1) / (e-1)!) (t (1/e)), and t^k / k!
 * = (x y) z of three of them, in the order of nbody_fmm_outer_position.
 *   moments of a cube: its bodies in the order of keys are cut into pieces of 1024. Body f of a piece, from 0, is added
 *     to strand f mod 8: N = N + m ((-t)^k / k!). Strands are closed by halves; pieces are added in order, from 0.
 *   field of a cube A: F_k = sum of N_n(C) T_{n+k}(A - C) over n, |n + k| <= 8, and over cubes C. Cube C = (x, y, z) is
 *     strand (4 z + y) 4 + 3 - x, which runs over n; the 64 strands are closed by halves.
 *   force: g_c = sum of F_{k + e_c} t^k / k! over |k| < 8; potential: sum of F_k t^k / k! over |k| <= 8. Each term is a
 *     product and an addition. a = (a_near (k k) + (4 g) (k k)) (G M); p = p_near + sum.
 * The greatest error of a pair's force is 1e-5 G m / B^2, that of a uniform density 1e-8 G M / B^2. */
#ifndef NBODY_FMM_H
#define NBODY_FMM_H

#include "engine/device/backend.h"

enum { NBODY_FMM_ORDER_MIN = 3, NBODY_FMM_ORDER_MAX = 6, NBODY_FMM_LEVEL_MAX = 20 };
enum { NBODY_FMM_REFITS = 15 }; /* forces on some bodies that reuse the cells of a tree */
enum { NBODY_FMM_P2M_STRANDS = 8, NBODY_FMM_M2L_STRANDS = 32, NBODY_FMM_P2P_STRANDS = 4, NBODY_FMM_P2P_PIECE = 32 };

/* Outer images of a periodic box: cubes along an axis, cubes in the box, highest rank, coefficients up to that rank. */
enum { NBODY_FMM_OUTER_SIDE = 4, NBODY_FMM_OUTER_CUBES = 64, NBODY_FMM_OUTER_ORDER = 8, NBODY_FMM_OUTER_COUNT = 165 };
enum { NBODY_FMM_OUTER_STRANDS = 8, NBODY_FMM_OUTER_PIECE = 1024 };
/* Entry of a list in a periodic box: the first bit of the code of its shift; number of codes. */
enum { NBODY_FMM_SHIFT_BIT = 27, NBODY_FMM_SHIFTS = 27 };

/* Number of coefficients of moments, and of a field, at order P. */
#define NBODY_FMM_MOMENTS(P) ((P) * ((P) + 1) * ((P) + 2) / 6 - 3)
#define NBODY_FMM_FIELD(P) (((P) + 1) * ((P) + 2) * ((P) + 3) / 6)

/* Settings that reach a given error. */
typedef struct nbody_fmm_settings {
  int order;     /* P */
  double theta;  /* opening angle: a source is far where w r_A + r_B < theta times the distance of centres */
  double weight; /* w, weight of the target's radius */
  int leaf;      /* most bodies in a leaf */
} nbody_fmm_settings;

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the cheapest settings whose errors for n bodies are usually below `error` (median) and `error_tail` (of 99.9
 * % of the bodies). NaN: the default error, and any tail. `cpu_single`: for a CPU that computes pairs in fp32. */
nbody_fmm_settings nbody_fmm_settings_for(double error, double error_tail, double n, bool cpu_single);

/* Counts the lists of n > 0 bodies at position[3][n] with mass[n], in host memory, in open space or in a box of edge
 * `box` (0: open): M2L a body, ordered near pairs a body, levels of the tree below its root. One thread, 0.1 s for 10^5
 * bodies; the tree is in fp64, so that a few cells of an fp32 tree may differ. SIM_ERR_NO_MEMORY. */
sim_status nbody_fmm_count(const double *const position[3], const double *mass, int64_t n, double box,
                           const nbody_fmm_settings *settings, double *far, double *near, int *depth);

#ifdef __cplusplus
}
#endif

#endif
