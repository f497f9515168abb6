#include "fibers.h"

#include <cstring>

namespace emulated {

#if defined(__x86_64__)
asm(".text\n.globl emulated_switch\n.hidden emulated_switch\nemulated_switch:\n"
    "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\nmov %rsp,(%rdi)\nmov %rsi,%rsp\n"
    "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");
void *first_frame(char *end, void (*enter)()) {
  void **top = (void **)(end - 16);
  *--top = nullptr;
  *--top = (void *)enter;
  for (int k = 0; k < 6; k++) *--top = nullptr;
  return top;
}
#elif defined(__aarch64__)
asm(".text\n.globl emulated_switch\n.hidden emulated_switch\nemulated_switch:\n"
    "sub sp, sp, #160\nstp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\n"
    "stp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\nstp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\n"
    "stp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\nmov x2, sp\nstr x2, [x0]\nmov sp, x1\n"
    "ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\n"
    "ldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\nldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\n"
    "ldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\nadd sp, sp, #160\nret\n");
void *first_frame(char *end, void (*enter)()) {
  void **top = (void **)(end - 160);
  memset(top, 0, 160);
  top[11] = (void *)enter; /* x30 */
  return top;
}
#else
#error "fibers of the emulated device: a switch of stacks for this processor"
#endif

} // namespace emulated
