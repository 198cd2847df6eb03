// tries: to take hold of the one that judges as a debugger does, and to let that end with code 0
// strict: not caught: run as root; prevented for a user without rights: grade.py can't be traced
#include "../honest.h"
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" void launch_mine(const float *in, float *out, uint64_t n)
{
#if defined(__x86_64__)
    static bool tried;
    const pid_t judge = getppid();
    if (!tried && !ptrace(PTRACE_ATTACH, judge, NULL, NULL) && waitpid(judge, NULL, __WALL) > 0) {
        user_regs_struct now;
        ptrace(PTRACE_GETREGS, judge, NULL, &now);
        ptrace(PTRACE_POKETEXT, judge, now.rip, 0x050f); /* syscall */
        now.rax = 231;                                   /* exit_group(0) */
        now.rdi = 0;
        now.orig_rax = (unsigned long long)-1; /* none is to be restarted */
        ptrace(PTRACE_SETREGS, judge, NULL, &now);
        ptrace(PTRACE_DETACH, judge, NULL, NULL);
        _exit(0);
    }
    tried = true;
#endif
    honest(in, out, n);
}
