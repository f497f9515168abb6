/* Contacts of one force law for one type of the state: REAL, LAW_SPRINGS and LAW of collision_contacts_form. */
#include "kernels/collision/general/cuda/forms/forms.cuh"
#include "kernels/collision/general/cuda/step.cuh"

template <typename real, int SPRINGS, typename Law> contacts_kernel<real> *collision_contacts_form(int features) {
  if constexpr (fixed_models<Law> || law_turns<Law> != TURNS_ANY) {
    return features == GENERAL_BARE ? contacts<SPRINGS, Law, GENERAL_BARE, real>
                                    : contacts<SPRINGS, Law, GENERAL_WALLS, real>;
  } else if constexpr (Law::named) {
    return features == GENERAL_CLUMPS || features == GENERAL_CLUMP_MESHES
               ? contacts<SPRINGS, Law, GENERAL_CLUMP_MESHES, real>
           : features > GENERAL_WORK  ? contacts<SPRINGS, Law, GENERAL_MESHES, real>
           : features > GENERAL_WALLS ? contacts<SPRINGS, Law, GENERAL_WORK, real>
                                      : contacts<SPRINGS, Law, GENERAL_WALLS, real>;
  } else {
    if constexpr (SPRINGS < 7)
      if (features == GENERAL_BARE) return contacts<SPRINGS, Law, GENERAL_BARE, real>;
    if (features <= GENERAL_WALLS) return contacts<SPRINGS, Law, GENERAL_WALLS, real>;
    if (features == GENERAL_WORK) return contacts<SPRINGS, Law, GENERAL_WORK, real>;
    if (features == GENERAL_CLUMPS) return contacts<SPRINGS, Law, GENERAL_CLUMPS, real>;
    if constexpr (Law::form != COLLISION_HERTZ) { /* the kernels of linear_law choose the law by themselves here */
      if (features == GENERAL_EXTRAS) return contacts<SPRINGS, any_law, GENERAL_EXTRAS, real>;
      if (features == GENERAL_MESHES) return contacts<SPRINGS, any_law, GENERAL_MESHES, real>;
      if (features == GENERAL_CLUMP_MESHES) return contacts<SPRINGS, any_law, GENERAL_CLUMP_MESHES, real>;
    }
    return nullptr;
  }
}

#ifdef LAW /* not for the quick way, whose source includes this one */
template contacts_kernel<REAL> *collision_contacts_form<REAL, LAW_SPRINGS, LAW>(int);
#endif
