/* folder.h - a folder of a test's own in TMPDIR, for tests in C++. No shell sees its name,
 * which may have blanks. */
#ifndef FOLDER_H
#define FOLDER_H

#include <dirent.h>
#include <stdlib.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

static inline std::string temporary(const std::string &name)
{
    const char *const folder = getenv("TMPDIR");
    return (folder && folder[0] ? folder : "/tmp") + ("/" + name);
}

/* Its name; "" if there can be none. */
static inline std::string make_folder(const std::string &name)
{
    std::string path = temporary(name + "-XXXXXX");
    return mkdtemp(&path[0]) ? path : "";
}

/* Removes what is in it, which may be write-protected; where links lead to stays. */
static inline void empty_folder(const std::string &path)
{
    chmod(path.c_str(), 0700);
    DIR *const folder = opendir(path.c_str());
    while (const dirent *entry = folder ? readdir(folder) : NULL) {
        const std::string name = entry->d_name, at = path + "/" + name;
        if (name == "." || name == ".." || !unlink(at.c_str()))
            continue;
        empty_folder(at);
        rmdir(at.c_str());
    }
    if (folder)
        closedir(folder);
}

/* Returns whether it is gone. */
static inline bool remove_folder(const std::string &path)
{
    empty_folder(path);
    return !rmdir(path.c_str());
}

#endif
