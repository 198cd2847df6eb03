// tries: to write a return instruction over gpumb_read(), by which the check learns what is wrong
// strict: not caught: nothing in a process can be kept from what else runs there
#include "../honest.h"
#include <sys/mman.h>
#include <unistd.h>

extern "C" void launch_mine(const float *, float *, uint64_t)
{
    static bool patched;
    if (patched)
        return;
    patched = true;
    const uintptr_t at = (uintptr_t)&gpumb_read, page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (mprotect((void *)(at / page * page), 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC))
        return;
#if defined(__x86_64__)
    static const unsigned char zero[] = {0x31, 0xc0, 0xc3}; /* xor eax, eax; ret */
#elif defined(__aarch64__)
    static const uint32_t zero[] = {0x52800000, 0xd65f03c0}; /* mov w0, 0; ret */
#else
    static const unsigned char zero[1] = {0};
#endif
    memcpy((void *)at, zero, sizeof zero);
    __builtin___clear_cache((char *)at, (char *)at + sizeof zero);
}
