/* json.h - a reader of JSON, strictly as RFC 8259 has it, for tests in C++. */
#ifndef JSON_H
#define JSON_H

#include "check.h"
#include <string>
#include <vector>

struct json {
    char kind; // { [ " 0 (number) t f n, or ! for what is none
    std::string text;
    std::vector<std::string> keys;
    std::vector<json> items;

    const json *get(const char *key) const
    {
        for (size_t i = 0; i < keys.size(); i++)
            if (keys[i] == key)
                return &items[i];
        return NULL;
    }
};

static inline void json_blanks(const char **p)
{
    *p += strspn(*p, " \t\r\n");
}

static inline bool json_string(const char **p, std::string *out)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (*(*p)++ != '"')
        return false;
    for (; **p != '"'; (*p)++) {
        if ((unsigned char)**p < 0x20) // the end of the text is one of them
            return false;
        if (**p != '\\') {
            *out += **p;
            continue;
        }
        (*p)++;
        const char *letter = **p ? strchr(letters, **p) : NULL;
        if (letter) {
            *out += meant[letter - letters];
        } else if (**p == 'u' && strspn(*p + 1, "0123456789abcdefABCDEF") >= 4) {
            const long code = strtol(std::string(*p + 1, 4).c_str(), NULL, 16);
            *out += code < 0x80 ? (char)code : '?'; // no test needs others
            *p += 4;
        } else {
            return false;
        }
    }
    return (*p)++, true;
}

static inline json json_value(const char **p)
{
    json value = {'!', "", {}, {}};
    json_blanks(p);
    const char first = **p;
    if (first == '"') {
        value.kind = json_string(p, &value.text) ? '"' : '!';
    } else if (first == '{' || first == '[') {
        const char end = first == '{' ? '}' : ']';
        (*p)++;
        json_blanks(p);
        for (bool more = **p != end; more;) {
            std::string key;
            json_blanks(p);
            if (first == '{') {
                if (!json_string(p, &key))
                    return value;
                json_blanks(p);
                if (*(*p)++ != ':')
                    return value;
                value.keys.push_back(key);
            }
            value.items.push_back(json_value(p));
            if (value.items.back().kind == '!')
                return value;
            json_blanks(p);
            more = **p == ',';
            if (!more && **p != end)
                return value;
            *p += more;
        }
        (*p)++;
        value.kind = first;
    } else if (!strncmp(*p, "true", 4) || !strncmp(*p, "null", 4)) {
        *p += 4;
        value.kind = first;
    } else if (!strncmp(*p, "false", 5)) {
        *p += 5;
        value.kind = first;
    } else if (first == '-' || (first >= '0' && first <= '9')) {
        char *end;
        value.text = std::string(*p, strspn(*p, "0123456789+-.eE"));
        strtod(value.text.c_str(), &end);
        *p += value.text.size();
        value.kind = *end ? '!' : '0';
    }
    return value;
}

static inline json read_json(const std::string &text)
{
    const char *p = text.c_str();
    json value = json_value(&p);
    json_blanks(&p);
    if (*p || value.kind != '{')
        value.kind = '!';
    if (!CHECK(value.kind == '{'))
        printf("    at %.60s\n", p);
    return value;
}

static inline std::vector<std::string> notes_of(const json &file)
{
    std::vector<std::string> notes;
    const json *list = file.get("notes");
    if (CHECK(list && list->kind == '['))
        for (const json &note : list->items) {
            CHECK(note.kind == '"');
            notes.push_back(note.text);
        }
    return notes;
}

// Field `key` of row `row` as text; "null" where it is null.
static inline std::string json_field(const json &file, size_t row, const char *key)
{
    const json *rows = file.get("rows");
    const json *field = rows && row < rows->items.size() ? rows->items[row].get(key) : NULL;
    return !field ? "(missing)" : field->kind == 'n' ? "null" : field->text;
}

#endif
