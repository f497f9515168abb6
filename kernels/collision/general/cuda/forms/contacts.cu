/* Contacts of one force law for one type of the state: REAL, LAW_SPRINGS and LAW_FORM of collision_contacts_form. */
#include "kernels/collision/general/cuda/forms/forms.cuh"
#include "kernels/collision/general/cuda/step.cuh"

template <typename real, int SPRINGS, int FORM> contacts_kernel<real> *collision_contacts_form(int features) {
  if constexpr (FORM == GENERAL_NAMED) {
    return general_clumps(features)   ? contacts<SPRINGS, named_law, GENERAL_CLUMP_MESHES, real>
           : features > GENERAL_WALLS ? contacts<SPRINGS, named_law, GENERAL_MESHES, real>
                                      : contacts<SPRINGS, named_law, GENERAL_WALLS, real>;
  } else {
    typedef built_in_law<FORM> law;
    if (features == GENERAL_BARE) return contacts<SPRINGS, law, GENERAL_BARE, real>;
    if (features == GENERAL_WALLS) return contacts<SPRINGS, law, GENERAL_WALLS, real>;
    if (features == GENERAL_WORK) return contacts<SPRINGS, law, GENERAL_WORK, real>;
    if (features == GENERAL_CLUMPS) return contacts<SPRINGS, law, GENERAL_CLUMPS, real>;
    if constexpr (FORM != COLLISION_HERTZ) { /* the kernels of COLLISION_LINEAR choose the law by themselves here */
      typedef built_in_law<-1> any;
      if (features == GENERAL_EXTRAS) return contacts<SPRINGS, any, GENERAL_EXTRAS, real>;
      if (features == GENERAL_MESHES) return contacts<SPRINGS, any, GENERAL_MESHES, real>;
      if (features == GENERAL_CLUMP_MESHES) return contacts<SPRINGS, any, GENERAL_CLUMP_MESHES, real>;
    }
    return nullptr;
  }
}

template contacts_kernel<REAL> *collision_contacts_form<REAL, LAW_SPRINGS, LAW_FORM>(int);
