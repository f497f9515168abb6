/* Fast multipole method for gravity, in open space or in a periodic box: settings, and the definition of its
 * arithmetic. A CPU and a GPU that follow the definition give the same bits in fp64. operators.inc has the operators.
 *
 * H. Cheng, L. Greengard and V. Rokhlin, J. Comput. Phys. 155 (1999) 468; W. Dehnen, J. Comput. Phys. 179 (2002) 27.
 *
 * Frame. L = the greatest of the three extents of the positions and 2^-10 h; E = the least power of two above L (1 for
 * L = 0). A body is at X = (x - o) / E, o_c = E trunc((low_c / 2 + high_c / 2) / E), computed in fp64 and rounded to
 * `real`: float in precision single and mixed, double in double and for the potential (on a CPU in precision single
 * and open space float, where a tree in float has no cells below level 12). The low corner of the box is the least X of
 * each axis.
 * Masses are divided by M = 2^(e + f), where 2^e is the least power of two above the greatest mass and 2^f the least
 * that is at least n. H = h / E. All that follows is in these units and in `real`.
 *
 * Keys. Of each axis 21 bits, floor(2^21 (X - low)) computed in fp64, at most 2^21 - 1. Bit 3 b + 2 of the key is bit b
 * of the x axis, 3 b + 1 of the y axis, 3 b of the z axis. Bodies are sorted by key; equal keys keep their order.
 *
 * Tree. The root, at level 0, is the box, with edge 1. A cell of count > 1 splits if its level is below
 * NBODY_FMM_LEVEL_MAX, and if it has more than `leaf` bodies, or its level is below l0 = ceil(log8(n / leaf)), that is
 * the least l with leaf 8^l >= n. Children are the octants that have bodies, in the order of keys; a cell of level l
 * has the edge e = 2^-l. Cells are numbered level by level, in the order of their keys.
 *
 * Moments. "Closed by halves": S strands are added as s[i] + s[i + S/2], then s[i] + s[i + S/4], and so on.
 *   centre of a leaf: body i, from 0 within the leaf, in strand i mod 8: w = w + m, c_k = fma(m, X_k - X0_k, c_k), X0
 *     the first body; strands are closed by halves; c_k = X0_k + c_k / w. With w = 0: c = X0.
 *   centre of an inner cell: over its children in order w = w + w_i, c_k = fma(w_i, C_ik - C0_k, c_k), C0 the centre of
 *     the first child; c_k = C0_k + c_k / w. With w = 0: c = C0.
 *   radius of a leaf: a = (1 + 2^-19) sqrt(d2), d2 the greatest of fma(dz, dz, fma(dy, dy, dx dx)), d = X - c; of an
 *     inner cell: a = (1 + 2^-19) the greatest of sqrt(d2) + r_i, d = C_i - c. r = max(a, e / 32): no accepted cell is
 *     so near that fp32 overflows.
 *   moments: P2M of body i into strand i mod 8, t = (c - X) / e, from 0; closed by halves. M2M of the children in
 * order, from 0, t = (c - C_i) / e.
 *
 * Lists of a target cell A, from a queue. It begins with the children of every cell that A's parent left open, in
 * order, or that cell itself if it is a leaf; the root's queue is the root. Cells B are taken from its front. With d =
 * c_A - c_B and d2 = fma(dz, dz, fma(dy, dy, dx dx)), B is accepted into A's far list if q q < theta^2 d2, q = fma(w,
 * r_A, r_B), theta^2 the rounded square of the rounded theta. Else, if A is an inner cell, B is left open. Else the
 * children of an inner B are appended to the queue, a leaf B to A's near list.
 *
 * Far. Source i of the far list goes to strand i mod 32, by the contraction of its moments, in units of A's edge, with
 * the tensor of x = (c_A - c_B) / e_A and h2 = (H / e_A)^2; strands begin at 0 and are closed by halves. The sums are
 * added to the parent's field, shifted by L2L, t = (c_A - c_parent) / e_parent: field = L2L + sum (the root: sum).
 * Scaling is by powers of two and exact, so that it may be done in any way that neither over- nor underflows: in fp32,
 * where e_B > 8 e_A, the tensor is computed in units of e_B, then scaled. For forces in fp32 a CPU leaves
 * out moments of rank 5.
 *
 * Near. For a body of leaf A: a = L2P / (e_A e_A), t = (X - c) / e_A, multiplied by the exact 1 / e_A^2. The near list
 * is cut into pieces of 32 cells; body f, from 0, of all cells of a piece goes to strand f mod 4: d = X_f - X, s2 =
 * fma(dz, dz, fma(dy, dy, fma(dx, dx, H H))), y = 1 / sqrt(s2), g = (m y) (y y), s_k = fma(g, d_k, s_k). The body
 * itself is left out (its number f stays used) by its index, so that another body at its position without softening is
 * noticed. At the end of a piece (s0 + s2) + (s1 + s3) is added to a. The acceleration is (double)a (G M / E^2), the
 * factor rounded once. Potential: p = L2P / e_A, terms s = fma(m, y, s), the same strands and pieces; U = -(1/2) (G M M
 * / E) sum over bodies, in the state's order, of m p, by sim_reduce_sum. A GPU adds it up cell by cell, and beside
 * forces in fp32 with leaves of twice as many bodies. In fp32 and for the potential a device may use any 1 / sqrt.
 *
 * Some bodies (individual steps). The first force on some bodies after a force on all builds a tree. The next
 * NBODY_FMM_REFITS forces on some bodies keep its frame, its cells and the order of bodies, and compute centres, radii
 * and moments anew from the new positions. Only cells with a target have lists and fields, and only targets are summed.
 *
 * Periodic box of edge B. The frame is the box: X = x k with k = 1 / B rounded, in fp64 and then rounded to `real`; low
 * = 0; E = B, H = h k. An entry of a list is a cell with a shift, of components 0, 1 or -1 and code s_x + 3 s_y + 9
 * s_z, with 2 for -1. The queue of the root holds the root with codes 0 to 26; children have the code of their parent.
 * A source with a shift s has its centre at c_B + s and its bodies at X + s, rounded. A body is left out only of its
 * own leaf with code 0. So the lists sum 27 softened images of every body.
 *
 * Outer images are all images but these 27, with a background of the opposite density and conducting surroundings. T,
 * the derivatives of E of periodic/lattice.h without those 27, is a smooth function of positions in the box, but
 * expansions about one centre converge slowly, as (3^(1/2) / 2)^rank in opposite corners. So the box is cut into 4^3
 * cubes, by the first two bits of an axis in the keys, and T is expanded to rank 8 for each pair of them. In fp64 for
 * all precisions, without fused operations, in units of a cube's edge, with t = 4 X - (cube + 1/2) from its centre: t^e
 * / e! = (t^(e-1) / (e-1)!) (t (1/e)), t^k / k! = (x y) z of three of them, in the order of nbody_fmm_outer_position.
 *
 * Outer moments of a cube: of its bodies in the order of keys, in pieces of 1024: body f of a piece, from 0, into
 * strand f mod 8, N = N + m ((-t)^k / k!); closed by halves; pieces are added in order, from 0.
 *
 * Outer field of a cube A: F_k = sum over n, |n + k| <= 8, and over cubes B of N_n(B) T_{n+k}(A - B): cube B = (x, y,
 * z) is strand (4 z + y) 4 + 3 - x, which runs over n; the 64 strands are closed by halves.
 *
 * Outer force: g_c = sum over k, |k| < 8, of F_{k + e_c} t^k / k!; potential: of F_k, |k| <= 8; each term a product and
 * a sum. a = (a_near (k k) + (4 g) (k k)) (G M), p = p_near + sum. The greatest error of a pair's force is 1e-5 G m /
 * B^2, that of a uniform density 1e-8 of G M / B^2. */
#ifndef NBODY_FMM_H
#define NBODY_FMM_H

#include "engine/device/backend.h"

enum { NBODY_FMM_ORDER_MIN = 3, NBODY_FMM_ORDER_MAX = 6, NBODY_FMM_LEVEL_MAX = 20 };
enum { NBODY_FMM_REFITS = 15 }; /* forces on some bodies before the cells of a tree are made anew */
enum { NBODY_FMM_P2M_STRANDS = 8, NBODY_FMM_M2L_STRANDS = 32, NBODY_FMM_P2P_STRANDS = 4, NBODY_FMM_P2P_PIECE = 32 };

/* Outer images of a periodic box: cubes along an axis, cubes of the box, highest rank, coefficients up to that rank. */
enum { NBODY_FMM_OUTER_SIDE = 4, NBODY_FMM_OUTER_CUBES = 64, NBODY_FMM_OUTER_ORDER = 8, NBODY_FMM_OUTER_COUNT = 165 };
enum { NBODY_FMM_OUTER_STRANDS = 8, NBODY_FMM_OUTER_PIECE = 1024 };
/* Entry of a list in a periodic box: the first bit of the code of its shift; number of codes. */
enum { NBODY_FMM_SHIFT_BIT = 27, NBODY_FMM_SHIFTS = 27 };

/* Number of coefficients of moments, and of a field, at order P. */
#define NBODY_FMM_MOMENTS(P) ((P) * ((P) + 1) * ((P) + 2) / 6 - 3)
#define NBODY_FMM_FIELD(P) (((P) + 1) * ((P) + 2) * ((P) + 3) / 6)

/* Settings that an error asked for needs. */
typedef struct nbody_fmm_settings {
  int order;     /* P */
  double theta;  /* opening angle */
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
