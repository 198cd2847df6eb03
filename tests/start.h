/* start.h - runs a program without a shell, for tests in C++. */
#ifndef START_H
#define START_H

#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

/* Returns its exit code, -1 if it has none. What it says goes to standard output, too. */
static inline int start(std::vector<std::string> words)
{
    std::vector<char *> arguments;
    int status = -1;
    for (std::string &word : words)
        arguments.push_back(&word[0]);
    arguments.push_back(NULL);
    const pid_t child = fork();
    if (!child) {
        dup2(1, 2);
        execvp(arguments[0], arguments.data());
        _exit(127);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
