/* Sums over the grains with one force law for one type of the state. REAL, LAW_SPRINGS and LAW: as in
 * collision_sums_form. */
#include "kernels/collision/general/cuda/forms/forms.cuh"
#include "kernels/collision/general/cuda/sums.cuh"

template <typename real, int SPRINGS, typename Law> sums_kernel<real> *collision_sums_form(int features) {
  if constexpr (Law::named)
    return general_clumps(features) ? sum_blocks<SPRINGS, Law, GENERAL_CLUMP_MESHES, real>
                                    : sum_blocks<SPRINGS, Law, GENERAL_MESHES, real>;
  else
    return general_clumps(features)     ? sum_blocks<SPRINGS, Law, GENERAL_CLUMP_MESHES, real>
           : features >= GENERAL_EXTRAS ? sum_blocks<SPRINGS, Law, GENERAL_MESHES, real>
                                        : sum_blocks<SPRINGS, Law, GENERAL_WORK, real>;
}

#ifdef LAW /* not for the quick way, whose source includes this one */
template sums_kernel<REAL> *collision_sums_form<REAL, LAW_SPRINGS, LAW>(int);
#endif
