/* Forms of the two large kernels of the general solver: contacts and sums, by force law, history and features. The
 * compiler takes minutes for all of them, so each force law is a translation unit of its own (forms/contacts.cu and
 * forms/sums.cu, which CMakeLists.txt compiles once for each law and type of the state). */
#ifndef COLLISION_GENERAL_CUDA_FORMS_CUH
#define COLLISION_GENERAL_CUDA_FORMS_CUH

#include "kernels/collision/general/cuda/shared.cuh"

/* Laws of forms; see contacts.cuh. Laws of models.inc that scenarios name often have forms of their own. */
template <int FORM> struct built_in_law;
template <int FORM, int TURNS> struct turning_law;
template <int FORM, int ROLLING, int COHESION> struct fixed_law;
struct named_law;
typedef built_in_law<-1> any_law;
typedef built_in_law<COLLISION_LINEAR> linear_law;
typedef built_in_law<COLLISION_HERTZ> hertz_law;
typedef turning_law<COLLISION_LINEAR, TURNS_ROLLING> linear_rolling_law;
typedef turning_law<COLLISION_HERTZ, TURNS_ROLLING> hertz_rolling_law;
typedef turning_law<COLLISION_LINEAR, TURNS_TWISTING> linear_twisting_law;
typedef turning_law<COLLISION_HERTZ, TURNS_TWISTING> hertz_twisting_law;
typedef fixed_law<COLLISION_LINEAR, COLLISION_SDS, COLLISION_NO_COHESION> linear_sds_law;
typedef fixed_law<COLLISION_HERTZ, COLLISION_SDS, COLLISION_NO_COHESION> hertz_sds_law;
typedef fixed_law<COLLISION_HERTZ, COLLISION_NO_TURNING, COLLISION_JKR> hertz_jkr_law;
typedef fixed_law<COLLISION_LINEAR, COLLISION_NO_TURNING, COLLISION_SQUARE_WELL> linear_well_law;
typedef fixed_law<COLLISION_HERTZ, COLLISION_NO_TURNING, COLLISION_SQUARE_WELL> hertz_well_law;
typedef fixed_law<COLLISION_LINEAR, COLLISION_NO_TURNING, COLLISION_BRIDGE> linear_bridge_law;
typedef fixed_law<COLLISION_HERTZ, COLLISION_NO_TURNING, COLLISION_BRIDGE> hertz_bridge_law;

/* Types of the kernels, also of those in laws.h that replace them. */
template <typename real>
using sums_kernel = void(general_arrays<real>, general_poses, general_shear<real>, int, general_terms, double *,
                         unsigned long long *, unsigned);
template <typename real>
using contacts_kernel = void(general_arrays<real>, general_poses, real, real, unsigned, general_shear<real>);

/* The kernel with these features (GENERAL_BARE ... GENERAL_CLUMP_MESHES) or with more. Defined for SPRINGS 0 with
 * any_law; 3 and 7 with linear_law; 3 and 7 with hertz_law, up to GENERAL_WORK and for GENERAL_CLUMPS; 4, 7 and 8 with
 * named_law; in single precision and up to GENERAL_WALLS for 7 with laws of sds and turning laws, and 4 with the other
 * fixed laws. */
template <typename real, int SPRINGS, typename Law> contacts_kernel<real> *collision_contacts_form(int features);
/* Defined for SPRINGS 0, 3 and 7 with any_law; 4, 7 and 8 with named_law. */
template <typename real, int SPRINGS, typename Law> sums_kernel<real> *collision_sums_form(int features);

#endif
