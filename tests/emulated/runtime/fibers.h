/* Fibers: stacks of their own, between which a thread of the host switches. */
#ifndef SIM_EMULATED_FIBERS_H
#define SIM_EMULATED_FIBERS_H

/* Keeps the registers of the running fiber on its stack, and its stack pointer in *from; goes on with the fiber whose
 * stack pointer is `to`. */
extern "C" void emulated_switch(void **from, void *to);

namespace emulated {

/* The stack pointer of a fiber that begins in `enter`, on the stack that ends before `end`. */
void *first_frame(char *end, void (*enter)());

} // namespace emulated

#endif
