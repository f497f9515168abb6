/* Forms of the two large kernels of the general solver: contacts and sums, by force law, history and features. The
 * compiler takes minutes for all of them, so each force law is a translation unit of its own (forms/contacts.cu and
 * forms/sums.cu, which CMakeLists.txt compiles once for each law and type of the state). */
#ifndef COLLISION_GENERAL_CUDA_FORMS_CUH
#define COLLISION_GENERAL_CUDA_FORMS_CUH

#include "kernels/collision/general/cuda/shared.cuh"

/* FORM of a law of models.inc; else a collision_force, or -1 for the run's own choice. */
enum { GENERAL_NAMED = -2 };

/* Types of the kernels, also of those in laws.h that replace them. */
template <typename real>
using sums_kernel = void(general_arrays<real>, general_poses, general_shear<real>, int, general_terms, double *,
                         unsigned long long *, unsigned);
template <typename real>
using contacts_kernel = void(general_arrays<real>, general_poses, real, real, unsigned, general_shear<real>);

/* The kernel with these features (GENERAL_BARE ... GENERAL_CLUMP_MESHES) or with more. Defined for SPRINGS and FORM 0
 * and -1; 3 and COLLISION_LINEAR; 3 and COLLISION_HERTZ, up to GENERAL_WORK and for GENERAL_CLUMPS; 7 and -1; 4, 7 and
 * 8 and GENERAL_NAMED. */
template <typename real, int SPRINGS, int FORM> contacts_kernel<real> *collision_contacts_form(int features);
/* Defined for SPRINGS 0, 3 and 7 with FORM -1; 4, 7 and 8 with GENERAL_NAMED. */
template <typename real, int SPRINGS, int FORM> sums_kernel<real> *collision_sums_form(int features);

#endif
