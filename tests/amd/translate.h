/* translate.h - a code object and its listing become lists of functions with operands; launches. */
#ifndef TRANSLATE_H
#define TRANSLATE_H

/* ---- a line of the listing ------------------------------------------------------------------- */

inline bool starts(const std::string &text, const std::string &with)
{
    return text.compare(0, with.size(), with) == 0;
}

inline bool ends(const std::string &text, const std::string &with)
{
    return text.size() >= with.size() &&
           text.compare(text.size() - with.size(), with.size(), with) == 0;
}

inline bool drop(std::string &text, const std::string &end)
{
    const bool has = ends(text, end);
    if (has)
        text.resize(text.size() - end.size());
    return has;
}

inline void replace(std::string &text, const std::string &old, const std::string &by)
{
    const size_t at = text.find(old);
    if (at != std::string::npos)
        text.replace(at, old.size(), by);
}

inline Operand parse_operand(std::string text)
{
    static const std::map<std::string, std::array<int, 2>> names = {
        {"vcc", {VCC, 2}},   {"vcc_lo", {VCC, 1}},   {"vcc_hi", {VCC + 1, 1}},
        {"exec", {EXEC, 2}}, {"exec_lo", {EXEC, 1}}, {"exec_hi", {EXEC + 1, 1}},
        {"m0", {M0, 1}}};
    Operand o;
    if (text.size() > 1 && text[0] == '-' && strchr("|vs", text[1])) {
        o.negative = true;
        text.erase(0, 1);
    }
    if (text[0] == '|') {
        o.absolute = true;
        text = text.substr(1, text.size() - 2);
    }
    if (text[0] == 'v' && (ends(text, ".l") || ends(text, ".h"))) {
        o.high = text.back() == 'h';
        text.resize(text.size() - 2);
    }
    const auto name = names.find(text);
    if (name != names.end()) {
        o.kind = Operand::SCALAR;
        o.first = name->second[0];
        o.count = name->second[1];
    } else if (text == "null" || text == "off") {
        o.kind = Operand::NONE;
    } else if (starts(text, "ttmp")) {
        o.kind = Operand::SCALAR;
        o.first = TTMP + std::stoi(text.substr(4));
        o.count = 1;
    } else if ((text[0] == 'v' || text[0] == 's') && (isdigit(text[1]) || text[1] == '[')) {
        int last = 0;
        o.kind = text[0] == 'v' ? Operand::VECTOR : Operand::SCALAR;
        if (sscanf(text.c_str() + 1, "[%d:%d]", &o.first, &last) != 2)
            last = o.first = std::stoi(text.substr(1));
        o.count = last - o.first + 1;
    } else {
        o.kind = Operand::CONSTANT;
        size_t used = 0;
        if (text.find('.') != std::string::npos) {
            const double value = std::stod(text, &used);
            o.as_32 = bits<u32>(static_cast<float>(value));
            o.as_integer = o.as_double = bits<u64>(value);
        } else {
            const i64 value = std::stoll(text, &used, 0);
            o.as_32 = static_cast<u32>(value);
            o.as_integer = static_cast<u64>(value);
            /* a literal is the upper half of a double */
            o.as_double = static_cast<u64>(starts(text, "0x") ? value << 32 : value);
        }
        if (used != text.size())
            stop("operand " + text);
    }
    return o;
}

/* "[0,1,1]" as bits */
inline int parse_bits(const std::string &text)
{
    int set = 0;
    for (size_t at = 1, bit = 0; at < text.size(); at += 2, bit++)
        set |= (text[at] == '1') << bit;
    return set;
}

inline const Table &table()
{
    static const Table all;
    return all;
}

/* What stands behind the last operand: "offset:16 glc", "row_shl:1 row_mask:0xf", "vmcnt(0)". */
inline void parse_modifier(Instruction &i, const std::string &word)
{
    static const std::set<std::string> known = {
        "offset",    "offset0",    "offset1", "glc",      "slc",      "dlc",    "row_mask",
        "bank_mask", "bound_ctrl", "clamp",   "vmcnt",    "lgkmcnt",  "expcnt", "op_sel",
        "op_sel_hi", "neg_lo",     "neg_hi",  "src0_sel", "src1_sel", "sc0",    "sc1",
        "nt",        "scope",      "th",      "bitop3"};
    const size_t end = word.find_first_of(":(");
    const std::string key = word.substr(0, end);
    std::string value = end == std::string::npos ? "" : word.substr(end + 1);
    drop(value, ")");
    if (known.count(key)) {
        i.modifiers[key] = value;
        if (ends(key, "_mask") && value != "0xf")
            stop(word);
    } else if (starts(key, "row_") || starts(key, "wave_") || key == "quad_perm") {
        i.dpp = key;
        if (key == "quad_perm")
            for (size_t lane = 0; lane < 4; lane++)
                i.dpp_by |= (value.at(1 + 2 * lane) - '0') << 2 * lane;
        else
            i.dpp_by = value.empty() ? 0 : std::stoi(value);
    } else
        stop("modifier " + word);
}

inline void parse_modifiers(Instruction &i, const std::string &text)
{
    std::istringstream words(text);
    for (std::string word; words >> word;)
        parse_modifier(i, word);
    auto &m = i.modifiers;
    i.op_sel = m.count("op_sel") ? parse_bits(m["op_sel"]) : 0;
    i.op_sel_hi = m.count("op_sel_hi") ? parse_bits(m["op_sel_hi"]) : 7;
    i.neg_lo = m.count("neg_lo") ? parse_bits(m["neg_lo"]) : 0;
    i.neg_hi = m.count("neg_hi") ? parse_bits(m["neg_hi"]) : 0;
    for (int s = 0; s < 2; s++) {
        const auto found = m.find("src" + std::to_string(s) + "_sel");
        const std::string select = found == m.end() ? "" : found->second;
        if (starts(select, "BYTE_"))
            i.at.at(s + 1).byte = select[5] - '0';
        else if (!select.empty() && select != "DWORD")
            stop(select);
    }
    for (const char *counter : {"vmcnt", "lgkmcnt"})
        if (m.count(counter))
            i.waits.push_back({counter[0] == 'v' ? VM : LGKM, std::stoi(m[counter])});
}

/* Names of one thing: encodings, and newer ones for what gfx9 has. */
inline void simplify(Instruction &i)
{
    for (const char *encoding : {"_dpp", "_sdwa", "_e32", "_e64"})
        drop(i.name, encoding);
    static const std::vector<std::pair<std::string, std::string>> newer = {
        {"v_dual_", "v_"},        {"_nc_", "_"},           {"add_co_ci", "addc_co"},
        {"sub_co_ci", "subb_co"}, {"and_not1", "andn2"},   {"subrev_co_ci", "subbrev_co"},
        {"or_not1", "orn2"},      {"v_ctz_i32", "v_ffbl"}, {"s_ctz", "s_ff1"},
        {"v_mad_co_", "v_mad_"}};
    for (const auto &n : newer)
        replace(i.name, n.first, n.second);
    if (starts(i.name, "s_"))
        replace(i.name, "_co_", "_");
    if (i.name == "v_cndmask_b32" && i.at.size() == 3) /* in a pair */
        i.at.push_back(parse_operand("vcc_lo"));
    if (i.modifiers.count("clamp"))
        i.name += " clamp";
    if (starts(i.name, "v_cmpx_") && i.at.size() == 2) {
        i.name.erase(5, 1);
        i.at.insert(i.at.begin(), parse_operand("exec_lo"));
    }
    if (starts(i.name, "v_fmac_") || starts(i.name, "v_mac_") || i.name == "s_fmac_f32")
        i.at.push_back(i.at.at(0));
    if (i.name == "s_addk_i32")
        i.at.insert(i.at.begin() + 1, i.at.at(0));
    if (starts(i.name, "s_") && i.name.find("k_") != std::string::npos && ends(i.name, "_i32")) {
        Operand &k = i.at.back(); /* 16 bits, with a sign */
        k.as_32 = static_cast<u32>(static_cast<i32>(static_cast<int16_t>(k.as_32)));
    }
}

/* ---- accesses to memory ---------------------------------------------------------------------- */

inline int access_size(const std::string &name)
{
    static const std::vector<std::pair<std::string, int>> sizes = {
        {"_ubyte", 1},    {"_byte", 1},     {"_ushort", 2},   {"_short", 2},     {"_dwordx2", 8},
        {"_dwordx3", 12}, {"_dwordx4", 16}, {"_dwordx8", 32}, {"_dwordx16", 64}, {"_dword", 4},
        {"_b32", 4},      {"_b64", 8},      {"_b96", 12},     {"_b128", 16},     {"_u32", 4},
        {"_u64", 8},      {"_u8", 1},       {"_u16", 2},      {"_b8", 1},        {"_b16", 2},
        {"_b256", 32},    {"_b512", 64}};
    for (const auto &s : sizes)
        if (ends(name, s.first))
            return s.second;
    stop("size of " + name);
}

/* What the modifiers say of caches. LLVM's User Guide for AMDGPU Backend, "Memory Model" of each
 * target: which of them a load of workgroup and of agent scope has. */
inline void Machine::decode_scope(Instruction &i)
{
    const auto has = [&](const char *key) { return i.modifiers.count(key) > 0; };
    if (many_l2())
        i.scope = has("sc1") ? DEVICE : NEAR; /* sc0: workgroups, which have one L1 */
    else if (target < GFX10)
        i.scope = has("glc") ? DEVICE : NEAR;
    else if (target < GFX11)
        i.scope = has("glc") ? has("dlc") ? DEVICE : GROUP : NEAR;
    else if (target < GFX12)
        i.scope = has("glc") ? DEVICE : NEAR;
    else if (has("scope"))
        i.scope = i.modifiers["scope"] == "SCOPE_CU"   ? NEAR
                  : i.modifiers["scope"] == "SCOPE_SE" ? GROUP
                                                       : DEVICE;
    /* of an atomic: it returns what was there */
    i.returns = many_l2()        ? has("sc0")
                : target < GFX12 ? has("glc")
                                 : has("th") && ends(i.modifiers["th"], "RETURN");
}

inline void Machine::decode_memory(Instruction &i)
{
    using Modify = u64 (*)(u64, u64, u64);
    static const std::map<std::string, Modify> atomics = {
        {"add", [](u64 old, u64 x, u64) { return old + x; }},
        {"add_f32",
         [](u64 old, u64 x, u64) {
             return static_cast<u64>(
                 bits<u32>(bits<float>(static_cast<u32>(old)) + bits<float>(static_cast<u32>(x))));
         }},
        {"add_f64",
         [](u64 old, u64 x, u64) { return bits<u64>(bits<double>(old) + bits<double>(x)); }},
        {"or", [](u64 old, u64 x, u64) { return old | x; }},
        {"umin", [](u64 old, u64 x, u64) { return std::min(old, x); }},
        {"umax", [](u64 old, u64 x, u64) { return std::max(old, x); }},
        {"inc", [](u64 old, u64 x, u64) { return old >= x ? 0 : old + 1; }},
        {"swap", [](u64, u64 x, u64) { return x; }},
        {"cmpswap", [](u64 old, u64 x, u64 compared) { return old == compared ? x : old; }}};
    decode_scope(i);
    std::string name = i.name, &n = name;
    i.lds = starts(n, "ds_");
    i.flat = starts(n, "flat_");
    i.scalar = starts(n, "s_load_");
    n.erase(0, n.find('_') + 1);
    auto &m = i.modifiers;
    const auto offset = [&](const char *key) {
        return m.count(key) ? std::stoll(m[key], nullptr, 0) : 0;
    };
    i.offset[0] = offset("offset") + offset("offset0");
    i.offset[1] = offset("offset1");
    size_t next = 0;
    if (starts(n, "load") || starts(n, "read")) {
        i.access = LOAD;
        i.size = access_size(n);
        i.to = i.at.at(next++);
        i.index = i.at.at(next++);
    } else if (starts(n, "store") || starts(n, "write")) {
        i.access = STORE;
        i.size = access_size(n);
        i.index = i.at.at(next++);
        i.data = i.at.at(next++);
    } else {
        i.access = ATOMIC;
        n.erase(0, starts(n, "atomic_") ? 7 : 0);
        for (const char *least : {"min_u", "max_u"}) /* gfx11's names */
            replace(n, least, std::string("u") + least);
        i.size = ends(n, "_f64") || drop(n, "_x2") || drop(n, "_u64") || drop(n, "_b64") ? 8 : 4;
        drop(n, "_b32");
        drop(n, "_u32");
        if (!atomics.count(n))
            stop("unknown mnemonic " + i.name);
        i.modify = atomics.at(n);
        if (i.returns)
            i.to = i.at.at(next++);
        i.index = i.at.at(next++);
        i.data = i.at.at(next++);
    }
    if (n.find("d16_") != std::string::npos)
        i.half = n.find("_hi_") != std::string::npos;
    if (starts(n, "read2") || starts(n, "write2")) {
        i.pieces = 2;
        i.offset[0] *= i.size;
        i.offset[1] *= i.size;
    }
    if (i.scalar) {
        i.base = i.index;
        if (i.at.at(2).kind == Operand::CONSTANT) {
            i.offset[0] = static_cast<i64>(i.at[2].as_integer);
            i.index = Operand();
        } else
            i.index = i.at[2];
    } else if (!i.lds && !i.flat)
        i.base = i.at.at(next);
    const bool loads = i.access == LOAD || (i.access == ATOMIC && i.returns);
    i.counters = i.lds ? DS : i.scalar ? KM : loads || target < GFX10 ? VM : VS;
    if (i.flat)
        i.counters |= DS;
    if (i.to.count && i.to.count != std::max(i.pieces * i.size / 4, 1))
        stop("registers of " + i.name);
    static const Operation operation = {issue, {}};
    i.operation = &operation;
}

/* ds_bpermute: lane l gets what lane address / 4 has; nothing of lanes that are off. */
inline void bpermute(Wave &w, const Instruction &i)
{
    Lanes<u32> address, from, to;
    get(w, i.at[1], address);
    get(w, i.at[2], from);
    const u32 offset =
        i.modifiers.count("offset") ? static_cast<u32>(std::stoul(i.modifiers.at("offset"))) : 0;
    for (int l = 0; l < w.lanes; l++) {
        const u32 source = (address.at[l] + offset) / 4 % static_cast<u32>(w.lanes);
        to.at[l] = w.exec() >> source & 1 ? from.at[source] : 0;
    }
    put(w, i.at[0], to, w.exec());
    if (w.block->machine->weak) { /* at once, but counted */
        w.pending.push_back(std::make_unique<Pending>());
        w.pending.back()->what = &i;
        w.pending.back()->done = true;
    }
}

/* Two instructions, each of which reads what was there before ("RDNA 3" manual, "Dual Issue
 * VALU"). */
inline void run_pair(Wave &w, const Instruction &i)
{
    const Instruction &x = i, &y = *i.second;
    auto &to = w.v[static_cast<size_t>(x.at[0].first)];
    const auto before = to;
    x.alone->run(w, x);
    const auto after = to;
    to = before;
    y.operation->run(w, y);
    to = after;
}

/* Counters and how many may be left, of gfx12's waits; of two, the upper byte is the first's. */
inline void decode_wait(Instruction &i)
{
    const int left = static_cast<int>(i.at.at(0).as_32);
    const std::string what = i.name.substr(7);
    const int first = starts(what, "load") ? VM : starts(what, "store") ? VS : 0;
    if (first && ends(what, "_dscnt")) {
        i.waits.push_back({first, left >> 8 & 63});
        i.waits.push_back({DS, left & 63});
    } else if (first || what == "dscnt" || what == "kmcnt")
        i.waits.push_back({first ? first : what == "dscnt" ? DS : KM, left});
}

inline void Machine::decode(const Kernel &kernel, Instruction &i, std::string line)
{
    const size_t comment = line.find("//");
    i.address = std::stoull(line.substr(comment + 2), nullptr, 16);
    const size_t pair = line.find(" :: ");
    if (pair != std::string::npos) {
        i.second = std::make_shared<Instruction>();
        decode(kernel, *i.second, line.substr(pair + 4));
        line.resize(pair);
    } else
        line.resize(comment);
    std::istringstream words(line);
    words >> i.name;
    i.text = line.substr(line.find_first_not_of(" \t"));
    i.text.erase(i.text.find_last_not_of(" \t") + 1);
    std::string rest, all;
    std::getline(words, rest);
    /* operands end where a word does not follow a comma */
    size_t depth = 0, at = 0;
    while (at < rest.size() && rest[at] == ' ')
        at++;
    const bool only_modifiers =
        (starts(i.name, "s_waitcnt") && rest.find('(') != std::string::npos) ||
        i.name == "buffer_inv" || i.name == "buffer_wbl2" || i.name == "global_inv";
    const bool hints = i.name == "s_delay_alu" || i.name == "s_sendmsg" || i.name == "s_wait_alu" ||
                       i.name == "s_waitcnt_depctr";
    if (only_modifiers && !hints)
        parse_modifiers(i, rest);
    if (only_modifiers || hints)
        at = rest.size();
    std::string token;
    for (; at < rest.size(); at++) {
        depth += (rest[at] == '[') - (rest[at] == ']');
        if (rest[at] == ',' && depth == 0) {
            i.at.push_back(parse_operand(token));
            token.clear();
            at++;
        } else if (rest[at] == ' ') {
            break;
        } else
            token += rest[at];
    }
    if (!token.empty()) {
        i.at.push_back(parse_operand(token));
        parse_modifiers(i, rest.substr(at));
    }
    if (i.name == "s_waitcnt_vscnt")
        i.waits.push_back({VS, static_cast<int>(i.at.at(1).as_32)});
    if (starts(i.name, "s_wait_") && ends(i.name, "cnt"))
        decode_wait(i);
    simplify(i);
    static const Operation permutes = {bpermute, {}};
    if (i.name == "ds_bpermute_b32") {
        i.operation = &permutes;
        i.counters = DS;
    } else if (table().of.count(i.name)) {
        i.operation = &table().of.at(i.name);
    } else if (starts(i.name, "global_") || starts(i.name, "flat_") || starts(i.name, "ds_") ||
               starts(i.name, "s_load_"))
        decode_memory(i);
    else
        stop("unknown mnemonic " + i.name);
    if (i.name == "global_inv")
        decode_scope(i);
    if (i.name == "buffer_wbl2") {
        i.access = WRITE_BACK;
        i.counters = VM;
    }
    const auto &widths = i.operation->widths;
    if (!widths.empty() && widths.size() != i.at.size())
        stop("number of operands");
    const bool packed = starts(i.name, "v_pk_");
    if (i.op_sel && !packed && i.name != "v_permlanex16_b32")
        stop("op_sel");
    if ((i.neg_lo || i.neg_hi) && !packed)
        stop("neg_lo or neg_hi");
    if (!i.dpp.empty() && !i.operation->permutes)
        stop(i.dpp);
    for (size_t o = 0; o < i.at.size(); o++) {
        const Operand &x = i.at[o];
        const int registers = lanes() / 32;
        if (x.count && !widths.empty() &&
            x.count != (widths[o] == MASK ? registers : std::max(widths[o] / 4, 1)))
            stop("width of operand " + std::to_string(o));
        if (x.high && (widths.empty() || widths[o] != 2 || o == 0))
            stop("half of a register");
        if (x.kind == Operand::VECTOR && x.first + x.count > kernel.vgprs)
            stop("register beyond those allocated");
        const bool high =
            packed &&
            (i.name != "v_pk_mov_b32" && o > 0 ? (i.op_sel | i.op_sel_hi) >> (o - 1) & 1 : false);
        if (x.kind == Operand::CONSTANT && high)
            stop("upper half of a constant");
    }
    static const Operation pairs = {run_pair, {}};
    if (i.second) {
        i.alone = i.operation;
        i.operation = &pairs;
    }
    mnemonics.insert(i.name);
}

/* ---- files ----------------------------------------------------------------------------------- */

inline void Machine::load(const std::string &object, const std::string &listing)
{
    std::ifstream file(object, std::ios::binary);
    const std::vector<u8> elf((std::istreambuf_iterator<char>(file)),
                              std::istreambuf_iterator<char>());
    const auto read = [&](u64 at, int size) {
        if (at + static_cast<u64>(size) > elf.size())
            stop(object + ": too short");
        return read_word(elf.data() + at, size);
    };
    static const std::map<u64, int> machines = {{0x3f, GFX90A}, {0x4c, GFX942}, {0x4f, GFX950},
                                                {0x36, 0x1030}, {0x41, GFX11},  {0x4e, 0x1201}};
    const u64 flags = read(0x30, 4) & 0xff; /* EF_AMDGPU_MACH */
    if (!machines.count(flags))
        stop(object + ": a target that was never tried");
    target = machines.at(flags);
    /* sections and symbols of ELF64; a kernel's descriptor is the symbol NAME.kd */
    const u64 sections = read(0x28, 8), section_size = read(0x3a, 2), count = read(0x3c, 2);
    for (u64 s = 0; s < count; s++) {
        const u64 header = sections + s * section_size;
        if (read(header + 4, 4) != 2) /* SHT_SYMTAB */
            continue;
        const u64 strings = read(sections + read(header + 0x28, 4) * section_size + 0x18, 8);
        const u64 first = read(header + 0x18, 8), end = first + read(header + 0x20, 8);
        for (u64 symbol = first; symbol < end; symbol += 24) {
            std::string name = reinterpret_cast<const char *>(&elf[strings + read(symbol, 4)]);
            if (!drop(name, ".kd"))
                continue;
            const u64 in = sections + read(symbol + 6, 2) * section_size;
            const u64 at = read(symbol + 8, 8) - read(in + 0x10, 8) + read(in + 0x18, 8);
            if (read(at + 4, 4)) {
                spilling.insert(name);
                continue;
            }
            Kernel &k = kernels[name];
            k.name = name;
            k.group_bytes = static_cast<u32>(read(at, 4));
            k.kernarg_bytes = static_cast<u32>(read(at + 8, 4));
            k.rsrc1 = static_cast<u32>(read(at + 48, 4));
            k.rsrc2 = static_cast<u32>(read(at + 52, 4));
            k.properties = static_cast<u32>(read(at + 56, 2));
            if ((k.properties >> 10 & 1) != (lanes() == 32))
                stop(name + ": waves of the other size");
            if (read(at + 58, 2))
                stop(name + ": arguments in registers");
            k.vgprs = 8 * static_cast<int>((k.rsrc1 & 63) + 1);
        }
    }

    std::ifstream text(listing);
    Kernel *kernel = nullptr;
    for (std::string line; std::getline(text, line);) {
        if (ends(line, ">:")) {
            const size_t from = line.find('<') + 1;
            const auto found = kernels.find(line.substr(from, line.size() - 2 - from));
            kernel = found == kernels.end() ? nullptr : &found->second;
        } else if (kernel && line.find("//") != std::string::npos &&
                   line.find(".long 0x00000000") == std::string::npos) {
            Instruction i;
            try {
                decode(*kernel, i, line);
            } catch (const std::exception &e) {
                stop(kernel->name + ": " + line + ": " + e.what());
            }
            kernel->code.push_back(std::move(i));
        }
    }
    for (auto &k : kernels) {
        std::map<u64, int> at;
        for (const Instruction &i : k.second.code)
            at[i.address] = static_cast<int>(at.size());
        for (Instruction &i : k.second.code)
            if (starts(i.name, "s_branch") || starts(i.name, "s_cbranch")) {
                const i64 words = static_cast<int16_t>(i.at[0].as_32);
                const auto found = at.find(i.address + 4 + static_cast<u64>(4 * words));
                if (found == at.end())
                    stop(k.first + ": " + i.text + ": no such address");
                i.target = found->second;
            }
        if (k.second.code.empty())
            stop(k.first + ": not in " + listing);
    }
}

/* ---- launches -------------------------------------------------------------------------------- */

/* The state of a wave whose first thread is `first`. */
inline void Machine::start(Wave &w, const Kernel &k, u32 x, u32 y, u32 first, u32 threads,
                           u64 packet, u64 arguments)
{
    for (u32 &r : w.s)
        r = static_cast<u32>(randomly());
    w.v.resize(static_cast<size_t>(k.vgprs));
    for (auto &r : w.v)
        for (u32 &lane : r)
            lane = static_cast<u32>(randomly());
    const u32 here = std::min<u32>(threads - first, static_cast<u32>(w.lanes));
    w.s[EXEC + 1] = 0;
    w.set_mask(EXEC, here == 64 ? ~0ull : (1ull << here) - 1);
    for (u32 l = 0; l < here; l++) /* all but gfx10 pack x, y and z into one register */
        w.v[0][l] = first + l;
    const bool packed = target < GFX10 || target >= GFX11;
    for (u32 d = 1; !packed && d <= (k.rsrc2 >> 11 & 3); d++)
        for (u32 l = 0; l < here; l++)
            w.v[d][l] = 0;

    int at = 0;
    const auto pair = [&](int bit, u64 value) {
        if (!(k.properties >> bit & 1))
            return;
        w.s[at++] = static_cast<u32>(value);
        w.s[at++] = static_cast<u32>(value >> 32);
    };
    at += k.properties & 1 ? 4 : 0; /* scratch memory's descriptor */
    pair(1, packet);
    pair(2, randomly()); /* the queue */
    pair(3, arguments);
    pair(4, randomly()); /* the dispatch's number */
    pair(5, randomly()); /* scratch memory again */
    at += k.properties >> 6 & 1;
    const int user = static_cast<int>(k.rsrc2 >> 1 & 31);
    const bool padded = target >= GFX11 && target < GFX12; /* LLVM's UserSGPRInit16Bug */
    if (padded ? at > user : at != user)
        stop("user SGPRs: " + std::to_string(at));
    at = user;
    if (target >= GFX12) { /* LLVM's tests, workgroup-id-in-arch-sgprs.ll; z in the upper half */
        w.s[TTMP + 9] = x;
        w.s[TTMP + 7] = y;
        return;
    }
    const u32 group[3] = {x, y, 0};
    for (int d = 0; d < 3; d++)
        if (k.rsrc2 >> (7 + d) & 1)
            w.s[at++] = group[d];
}

inline void Machine::step(Wave &w, const Kernel &k)
{
    const Instruction &i = k.code[static_cast<size_t>(w.pc++)];
    i.operation->run(w, i);
    i.reached = true;
    executed++;
}

/* The one kernel whose mangled name has this part. */
inline const Kernel *Machine::find_kernel(const std::string &part) const
{
    const Kernel *found = nullptr;
    for (const auto &k : kernels)
        if (k.first.find(part) != std::string::npos) {
            if (found)
                stop(part + ": more than one kernel");
            found = &k.second;
        }
    return found;
}

inline void Machine::run(const std::string &part, u32 blocks, u32 rows, u32 threads, u32 lds,
                         const std::vector<u8> &packed)
{
    const Kernel *found = find_kernel(part);
    if (!found)
        stop(part + ": no such kernel");
    const Kernel &k = *found;
    const size_t own = (packed.size() + 7) / 8 * 8;
    const bool has_hidden = k.kernarg_bytes == own + 256;
    if (!has_hidden && (packed.size() > k.kernarg_bytes || own < k.kernarg_bytes))
        stop(k.name + ": arguments of " + std::to_string(packed.size()) + " bytes, not " +
             std::to_string(k.kernarg_bytes));
    executed_kernels.insert(k.name);

    /* hsa_kernel_dispatch_packet_t: sizes of a block from byte 4, of the grid from byte 12 */
    Buffer &packet = buffer(64), &arguments = buffer(k.kernarg_bytes / 16 * 16 + 16);
    const u16 block_size[3] = {static_cast<u16>(threads), 1, 1};
    const u32 grid_size[3] = {blocks * threads, rows, 1};
    memcpy(packet.bytes.data() + 4, block_size, sizeof block_size);
    memcpy(packet.bytes.data() + 12, grid_size, sizeof grid_size);
    std::copy(packed.begin(), packed.end(), arguments.bytes.begin());
    packet_at = packet.address;
    hidden_at = has_hidden ? arguments.address + own : 0;
    if (has_hidden) { /* of code object V5: blocks, threads of a block, threads of a last one */
        const u32 block_count[3] = {blocks, rows, 1};
        memcpy(&arguments.bytes[own], block_count, sizeof block_count);
        memcpy(&arguments.bytes[own + 12], block_size, sizeof block_size);
        memset(&arguments.bytes[own + 18], 0, 6);
    }
    const Snapshot started = snapshot();

    const u32 lanes = static_cast<u32>(this->lanes()), all = blocks * rows;
    std::vector<u32> order(all);
    std::iota(order.begin(), order.end(), 0u);
    if (!in_order && below(2))
        std::shuffle(order.begin(), order.end(), source());
    const u32 resident = 1 + static_cast<u32>(below(std::min<u32>(all, 12)));
    const u64 turn = 1ull << below(9); /* how long a wave runs, about */
    std::vector<std::unique_ptr<Block>> running;
    const u64 until = executed + limit;
    eager = below(2);
    const Wave *current = nullptr;
    try {
        for (u32 next = 0; next < all || !running.empty();) {
            while (next < all && running.size() < resident) {
                auto b = std::make_unique<Block>();
                b->machine = this;
                b->cache.then = b->l2.then = started;
                b->lds.resize(k.group_bytes + lds);
                for (u8 &byte : b->lds)
                    byte = static_cast<u8>(randomly());
                for (u32 first = 0; first < threads; first += lanes) {
                    b->waves.push_back(std::make_unique<Wave>());
                    b->waves.back()->block = b.get();
                    b->waves.back()->lanes = static_cast<int>(lanes);
                    start(*b->waves.back(), k, order[next] % blocks, order[next] / blocks, first,
                          threads, packet.address, arguments.address);
                }
                running.push_back(std::move(b));
                next++;
            }
            const size_t chosen = below(running.size());
            Block &b = *running[chosen];
            Wave &w = *b.waves[below(b.waves.size())];
            current = &w;
            if (w.sleeps > 0) {
                w.sleeps--;
                continue;
            }
            if (!b.dirty.empty() && !below(8))
                b.write_back(b.dirty.begin()->first);
            if (!w.pending.empty() && (w.ended || (eager && below(2))))
                complete_any(w);
            for (u64 n = 1 + below(2 * turn); n > 0 && !w.ended && !w.waits; n--) {
                /* what is waited for takes time, at times a long one, in which others run */
                if (!w.pending.empty() && !k.code[static_cast<size_t>(w.pc)].waits.empty() &&
                    below(2)) {
                    if (below(2))
                        complete_any(w);
                    w.sleeps = below(2) ? 0 : static_cast<int>(below(100));
                    break;
                }
                step(w, k);
            }
            bool passes = true, done = true;
            for (auto &other : b.waves) {
                passes = passes && (other->arrived || other->ended);
                done = done && other->ended && other->pending.empty();
            }
            if (passes)
                for (auto &other : b.waves) {
                    other->passed = other->arrived && !other->waits;
                    other->arrived = other->waits = false;
                }
            if (done) {
                b.write_back_all();
                running.erase(running.begin() + static_cast<long>(chosen));
            }
            if (executed > until)
                stop("does not end");
        }
    } catch (const std::exception &e) {
        const int pc = current ? std::max(current->pc - 1, 0) : 0;
        char where[32];
        snprintf(where, sizeof where, "+0x%llx: ",
                 static_cast<unsigned long long>(k.code[static_cast<size_t>(pc)].address -
                                                 k.code[0].address));
        buffers.resize(buffers.size() - 2);
        stop(k.name + where + k.code[static_cast<size_t>(pc)].text + ": " + e.what());
    }
    buffers.resize(buffers.size() - 2);
}

#endif
