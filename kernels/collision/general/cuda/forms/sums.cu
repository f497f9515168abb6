/* Sums over the grains with one force law for one type of the state. REAL, LAW_SPRINGS and LAW_FORM: as in
 * collision_sums_form. */
#include "kernels/collision/general/cuda/forms/forms.cuh"
#include "kernels/collision/general/cuda/sums.cuh"

template <typename real, int SPRINGS, int FORM> sums_kernel<real> *collision_sums_form(int features) {
  if constexpr (FORM == GENERAL_NAMED)
    return general_clumps(features) ? sum_blocks<SPRINGS, named_law, GENERAL_CLUMP_MESHES, real>
                                    : sum_blocks<SPRINGS, named_law, GENERAL_MESHES, real>;
  else
    return general_clumps(features)     ? sum_blocks<SPRINGS, built_in_law<FORM>, GENERAL_CLUMP_MESHES, real>
           : features >= GENERAL_EXTRAS ? sum_blocks<SPRINGS, built_in_law<FORM>, GENERAL_MESHES, real>
                                        : sum_blocks<SPRINGS, built_in_law<FORM>, GENERAL_WORK, real>;
}

template sums_kernel<REAL> *collision_sums_form<REAL, LAW_SPRINGS, LAW_FORM>(int);
