// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/c_program.hpp"

#include "compiler/print/c.hpp"
#include "compiler/shaders/shader_text.hpp"
#include "core/checksum.hpp"
#include "program/brain.hpp"
#include "program/legacy_names.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

namespace hearth {

namespace {

constexpr uint64_t kCopyBytes = 65536;  // of one job of a copy
constexpr uint64_t kAlignment = 64;     // of weights and arena: a line of the cache

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// "obs/left eye" as "obs_left_eye".
std::string identifier(std::string_view name) {
    std::string text;
    for (const char c : name)
        if (is_letter(c) || is_digit(c) || c == '_')
            text += c;
        else if (!text.empty() && text.back() != '_')
            text += '_';
    return text.empty() || is_digit(text[0]) ? "_" + text : text;
}
std::string upper(std::string text) {
    for (char& c : text)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return text;
}

/// As a C string: nothing in it ends the string or begins a trigraph.
std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\' && c != '?') {
            result += c;
            continue;
        }
        result += '\\';
        for (const int shift : {6, 3, 0})
            result += static_cast<char>('0' + ((byte >> static_cast<unsigned>(shift)) & 7));
    }
    return result + "\"";
}
/// Within a comment: nothing in it ends the comment.
std::string in_comment(std::string_view text) {
    std::string result;
    for (const char c : text)
        result += c >= 0x20 && c < 0x7f && !(c == '/' && !result.empty() && result.back() == '*')
                      ? c
                      : '?';
    return result;
}

std::string hex(uint64_t value) {
    std::string text = "UINT64_C(0x";
    for (int shift = 60; shift >= 0; shift -= 4)
        text += "0123456789abcdef"[value >> static_cast<unsigned>(shift) & 15];
    return text + ")";
}

std::string count_text(Extent extent) {
    if (extent.is_batch == 0) return std::to_string(extent.fixed) + "u";
    const std::string rows = std::to_string(extent.is_batch) + "u * (size_t)rows";
    return extent.fixed == 0 ? rows : std::to_string(extent.fixed) + "u + " + rows;
}

class ProgramPrinter {
  public:
    explicit ProgramPrinter(const CProgramText& of)
        : of_(of), program_(of.program), name_(of.name), upper_(upper(of.name)) {}

    Result<PrintedC> print() {
        if (name_.empty() || identifier(name_) != name_ || name_[0] == '_')
            return invalid_argument("C cannot have names that begin with '" + name_ + "'");
        order_slots();
        collect_weights();
        HEARTH_TRY(name_tensors());
        PrintedC printed;
        printed.header = header();
        HEARTH_ASSIGN(printed.source, source());
        printed.weights = std::move(weights_);
        printed.brain_bytes = brain_bytes();
        return printed;
    }

  private:
    // ------------------------------------------------------------------------ tables

    void order_slots() {
        slots_.resize(program_.variables.size());
        std::iota(slots_.begin(), slots_.end(), size_t{0});
        std::sort(slots_.begin(), slots_.end(), [&](size_t a, size_t b) {
            return program_.variables[a].name < program_.variables[b].name;
        });
    }

    DType held(DType dtype) const { return device_dtype(dtype, program_.storage); }

    /// The header that shaders/prelude/network.c checks, then Program::data.
    void collect_weights() {
        struct Header {
            uint32_t magic, format_version;
            uint64_t graph_hash, checksum, bytes;
        };
        const std::vector<std::byte>& data = program_.data;
        const Header header{0x57435248u, 1, program_.graph_hash, checksum(data), data.size()};
        weights_.resize(sizeof header + (data.size() + 7) / 8 * 8);
        std::memcpy(weights_.data(), &header, sizeof header);
        if (!data.empty()) std::memcpy(weights_.data() + sizeof header, data.data(), data.size());
    }

    uint64_t brain_bytes() const {
        uint64_t count = 0, at = 96;  // sizeof(file::BrainHeader), and of each tensor's record
        for (const Variable& s : program_.variables)
            if (is_learned(s.kind)) {
                ++count;
                at += 128 + s.name.size();
            }
        for (const size_t i : slots_)
            if (is_learned(program_.variables[i].kind))
                at = (at + 15) / 16 * 16 + program_.variables[i].bytes;
        return count == 0 ? at : (at + 15) / 16 * 16;
    }

    std::string entry_name(const Entry& entry) const {
        return name_ + "_" + identifier(entry.name);
    }

    /// Fields of each entry's tensors, none of them twice.
    Status name_tensors() {
        std::set<std::string> entries;
        for (const Entry& entry : program_.entries) {
            if (!entries.insert(entry_name(entry)).second)
                return invalid_argument("two entries are called " + entry_name(entry) + " in C");
            std::set<std::string> known;
            std::vector<std::string>& fields = fields_.emplace_back();
            for (const uint32_t b : entry.bindings) {
                const Binding& binding = program_.bindings[b];
                std::string field = identifier(binding.name) + "_";
                static const std::set<std::string> kWords{
                    "auto",     "break",    "case",     "char",   "const",   "continue",
                    "default",  "do",       "double",   "else",   "enum",    "extern",
                    "float",    "for",      "goto",     "if",     "inline",  "int",
                    "long",     "register", "restrict", "return", "short",   "signed",
                    "sizeof",   "static",   "struct",   "switch", "typedef", "union",
                    "unsigned", "void",     "volatile", "while",  "class",   "new",
                    "delete",   "this",     "template", "public", "private", "operator"};
                field.pop_back();
                if (kWords.contains(field)) field += "_";
                for (const std::string base = field; !known.insert(field).second;) field += "_";
                fields.push_back(field);
            }
        }
        return {};
    }

    // ------------------------------------------------------------------------ header

    std::string define(const std::string& name, const std::string& value,
                       const std::string& comment = {}) const {
        return "#define " + upper_ + "_" + name + " " + value +
               (comment.empty() ? "" : " /* " + comment + " */") + "\n";
    }

    std::string signature(const char* what) const {
        const std::string memory = "(const hearth_c_memory* memory";
        const std::string head = "hearth_c_result " + name_ + "_" + what + memory;
        if (what == std::string_view("init")) return head + ", hearth_c_error* error)";
        if (what == std::string_view("load"))
            return head + ", const void* brain, size_t bytes, hearth_c_error* error)";
        return head + ", void* brain, size_t bytes, hearth_c_error* error)";
    }

    struct EntrySignatures {
        std::string call, check, jobs, run;
    };
    EntrySignatures signatures(const Entry& entry) const {
        const std::string name = entry_name(entry);
        const std::string tensors = "const " + name + "_tensors* tensors, uint32_t rows";
        const std::string memory = "const hearth_c_memory* memory, " + tensors;
        return {
            "hearth_c_result " + name + "(" + memory + ", hearth_c_error* error)",
            "hearth_c_result " + name + "_check(" + memory + ", hearth_c_error* error)",
            "uint32_t " + name + "_jobs(uint32_t phase, uint32_t rows)",
            "void " + name + "_run(" + memory + ", uint32_t phase, uint32_t first, uint32_t end)"};
    }

    std::string header() const {
        std::string text =
            "/* What `hearth cook --target c` made of a network: do not edit. */\n\n#ifndef " +
            upper_ + "_H\n#define " + upper_ +
            "_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n" +
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n" +
            std::string(prelude_text("network_types.h")) + "\n";
        text +=
            define("ROWS", std::to_string(program_.max_batch_size) + "u", "the most of one call");
        text += define("ALIGNMENT", std::to_string(kAlignment) + "u", "of weights and arena");
        text += define("WEIGHTS_BYTES", std::to_string(program_.weights_bytes) + "u");
        text += define("ARENA_BYTES", std::to_string(program_.arena_bytes) + "u",
                       "enough for each entry, one after the other");
        text += define("COOKED_BYTES", std::to_string(weights_.size()) + "u");
        text += define("BRAIN_BYTES", std::to_string(brain_bytes()) + "u", "of " + name_ + "_save");
        text += define("GRAPH_HASH", hex(program_.graph_hash));
        if (of_.has_weights_in_source)
            text +=
                "\n/* The weights' first contents: memory's `cooked`. */\nextern const uint64_t " +
                name_ + "_cooked[" + std::to_string(weights_.size() / 8) + "];\n";
        else
            text +=
                "\n/* Memory's `cooked` is what is in the file beside this one, at a multiple of 8 "
                "bytes. */\n";
        text += "\n/* Where params and states lie in the weights, in bytes. */\n";
        std::set<std::string> known;
        for (const size_t i : slots_) {
            const Variable& s = program_.variables[i];
            if (s.kind == VariableKind::kConstant) continue;
            std::string name = "AT_" + upper(identifier(s.name));
            while (!known.insert(name).second) name += "_";
            text += define(name, std::to_string(s.offset) + "u",
                           in_comment(s.name) + ": " + std::string(name_of(held(s.dtype))) + " " +
                               to_string(s.shape));
        }
        text +=
            "\n/* Every function: any thread, as long as none of the memory is another call's at "
            "that "
            "time.  error: may be\n   null; filled unless the result is HEARTH_C_OK. */\n\n";
        text += "/* Gives the weights their first contents. */\n" + signature("init") + ";\n";
        text +=
            "/* A brain, from a GPU or from here, into the weights.  After HEARTH_C_CORRUPT_DATA "
            "or "
            "HEARTH_C_NOT_FINITE the\n   weights are the first ones or what they were; after any "
            "other "
            "error what they were. */\n" +
            signature("load") + ";\n";
        text += "/* The weights as a brain of " + upper_ + "_BRAIN_BYTES bytes. */\n" +
                signature("save") + ";\n";
        for (size_t e = 0; e < program_.entries.size(); ++e) text += entry_header(e);
        return text + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* " + upper_ + "_H */\n";
    }

    std::string entry_header(size_t index) const {
        const Entry& entry = program_.entries[index];
        const std::string name = entry_name(entry);
        std::string text = "\n/* Entry " + quoted(in_comment(entry.name)) +
                           ".  Tensors do not overlap each other or memory. */\ntypedef struct " +
                           name + "_tensors {\n";
        for (size_t i = 0; i < entry.bindings.size(); ++i) {
            const Binding& b = program_.bindings[entry.bindings[i]];
            text += std::string("    ") + (b.direction == Direction::kInput ? "const " : "") +
                    std::string(c_held_type(held(b.dtype))) + "* " + fields_[index][i] + "; /* " +
                    (b.direction == Direction::kInput    ? "input "
                     : b.direction == Direction::kOutput ? "output "
                                                         : "input, written in place, ") +
                    std::string(name_of(b.dtype)) + " " + to_string(b.shape) +
                    (b.name == fields_[index][i] ? "" : ": " + in_comment(b.name)) + " */\n";
        }
        if (entry.bindings.empty()) text += "    char none; /* it has no tensors */\n";
        const EntrySignatures s = signatures(entry);
        text += "} " + name + "_tensors;\n";
        text += s.call + ";\n";
        text +=
            "/* The same in parallel: check, then for each phase in turn all of its jobs, in "
            "ranges of "
            "any size on any\n   threads; the next phase when all of them are done.  The results "
            "are the "
            "same bits whatever the ranges. */\n";
        text += "#define " + upper(name) + "_PHASES " + std::to_string(phases_of(entry).size()) +
                "u\n" + s.check + ";\n" + s.jobs + ";\n" + s.run + ";\n";
        return text;
    }

    // ------------------------------------------------------------------------ source

    Result<std::string> source() {
        std::string text =
            "/* What `hearth cook --target c` made of a network: do not edit.\n\n"
            "   C11 that needs memcpy and memset, and functions of <math.h>; no heap, no globals "
            "but "
            "constants.\n"
            "   Compile with -fwrapv -fno-strict-aliasing (integers wrap around, memory is used "
            "again for "
            "other types), and\n"
            "   with -ffp-contract=off for the same bits from every compiler; -fno-math-errno "
            "makes "
            "square roots vectors. */\n\n#include \"" +
            name_ + ".h\"\n\n" + std::string(c_prelude());
        text +=
            "\n#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n"
            "#error \"weights and brains are little-endian\"\n#endif\n";
        if (has_lanes()) text += "\n" + std::string(c_lanes(of_.cpu));
        const std::string alignment = std::to_string(kAlignment);
        text += "\n#define HEARTH_ALIGNMENT " + alignment + "\n#define HEARTH_ALIGNMENT_TEXT \"" +
                alignment + "\"\n" + dtypes() + "\n" + std::string(prelude_text("network.c")) +
                slots();
        if (of_.has_weights_in_source) text += weights();
        for (const char* what : {"init", "load", "save"}) text += "\n" + brain_function(what);
        // What a kernel works out for all of its shapes, one of them may not need.
        text +=
            "\n#if defined(__GNUC__)\n#pragma GCC diagnostic push\n"
            "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
            "#pragma GCC diagnostic ignored \"-Wtautological-compare\"\n#endif\n";
        for (size_t k = 0; k < program_.kernels.size(); ++k) {
            const std::string kernel = kernel_name(k);
            HEARTH_ASSIGN(const std::string printed, print_c(*of_.bodies[k], kernel));
            text += "\nstatic void " + kernel +
                    "(void* const* operands, int32_t rows, int32_t first, int32_t end, int32_t "
                    "workgroups);\n" +
                    printed;
        }
        text += "\n#if defined(__GNUC__)\n#pragma GCC diagnostic pop\n#endif\n";
        for (size_t e = 0; e < program_.entries.size(); ++e) text += entry_source(e);
        return text;
    }

    bool has_lanes() const {
        return std::any_of(of_.bodies.begin(), of_.bodies.end(),
                           [](const auto& body) { return body_requirements(*body).lanes; });
    }

    std::string kernel_name(size_t index) const {
        return name_ + "_kernel_" + program_.kernels[index].name;
    }

    static std::string dtypes() {
        std::string text =
            "#define HEARTH_DTYPE_F16 " + std::to_string(static_cast<int>(DType::kF16)) +
            "\n#define HEARTH_DTYPE_BF16 " + std::to_string(static_cast<int>(DType::kBF16)) +
            "\n#define HEARTH_DTYPES ";
        for (int i = 0; i < kDTypeCount; ++i) {
            const auto dtype = static_cast<DType>(i);
            const bool is_float = is_floating(dtype) && dtype != DType::kF64;
            const char* const exponent = dtype == DType::kF16                            ? "0x7c00"
                                         : dtype == DType::kF32 || dtype == DType::kBF16 ? "0x7f80"
                                         : dtype == DType::kF64                          ? "0x7ff0"
                                                                                         : "0";
            text += std::string(i == 0 ? "" : ", ") + "{" + quoted(name_of(dtype)) + ", " +
                    std::to_string(size_bytes(dtype)) + ", " + exponent + ", " +
                    (is_float ? "1" : "0") + "}";
        }
        return text + "\n";
    }

    std::string slots() const {
        std::string text = "\nstatic const hearth_slot " + name_ + "_slots[] = {\n";
        for (const size_t i : slots_) {
            const Variable& s = program_.variables[i];
            text += "    {" + quoted(s.name) + ", " + std::to_string(s.name.size()) + ", " +
                    std::to_string(static_cast<int>(s.kind)) + ", " +
                    std::to_string(static_cast<int>(held(s.dtype))) + ", " +
                    std::to_string(s.shape.rank()) + ", {";
            for (int axis = 0; axis < s.shape.rank(); ++axis)
                text += (axis > 0 ? ", " : "") + std::to_string(s.shape[axis].count);
            if (s.shape.rank() == 0) text += "0";
            text += "}, " + std::to_string(s.offset) + "u, " + std::to_string(s.bytes) + "u, " +
                    (s.data_offset == kZeroFilled ? "hearth_no_first"
                                                  : std::to_string(s.data_offset) + "u") +
                    "},\n";
        }
        if (slots_.empty()) text += "    {\"\", 0, 0, 0, 0, {0}, 0, 0, 0}\n";
        const std::vector<std::string> renamed = aliases();
        text += "};\n";
        if (!renamed.empty()) {
            text += "static const hearth_alias " + name_ + "_aliases[] = {\n";
            for (const std::string& alias : renamed) text += alias;
            text += "};\n";
        }
        return text + "static const hearth_net " + name_ + "_net = {" + name_ + "_slots, " +
               std::to_string(slots_.size()) + ", " + std::to_string(renamed.size()) + ", " +
               (renamed.empty() ? "0" : name_ + "_aliases") + ", " + upper_ + "_WEIGHTS_BYTES, " +
               upper_ + "_ARENA_BYTES, " + std::to_string(program_.data.size()) + "u, " + upper_ +
               "_GRAPH_HASH, " + hex(of_.schema_hash) + ", " + hex(of_.parent_hash) + ", " +
               hex(of_.alias_schema_hash) + "};\n";
    }

    /// Lines of hearth_alias, for the params and states that have another name in brains of another
    /// version.
    std::vector<std::string> aliases() const {
        std::vector<std::string> lines;
        for (size_t slot = 0; slot < slots_.size(); ++slot) {
            const Variable& s = program_.variables[slots_[slot]];
            const AliasName alias = alias_of_variable(s.name);
            const std::string_view name = alias.view();
            if (!is_learned(s.kind) || name.empty() || program_.find_variable(name) != nullptr)
                continue;
            std::span<const std::byte> initial;
            if (s.data_offset != kZeroFilled)
                initial = std::span(program_.data).subspan(s.data_offset, s.bytes);
            const auto hash = [&](std::string_view as) {
                return brain_tensor_hash(as, held(s.dtype), initial);
            };
            lines.push_back("    {" + std::to_string(slot) + ", " + std::to_string(name.size()) +
                            ", " + quoted(name) + ", " + hex(hash(name) - hash(s.name)) + "},\n");
        }
        return lines;
    }

    std::string weights() const {
        std::string text = "\nconst uint64_t " + name_ + "_cooked[" +
                           std::to_string(weights_.size() / 8) + "] = {";
        for (size_t at = 0; at < weights_.size(); at += 8) {
            uint64_t word = 0;
            std::memcpy(&word, weights_.data() + at, sizeof word);
            text += at % 32 == 0 ? "\n   " : "";
            char digits[24];
            size_t size = 0;
            do digits[size++] = "0123456789abcdef"[word & 15];
            while ((word >>= 4) != 0);
            text += " 0x";
            while (size > 0) text += digits[--size];
            text += ",";
        }
        return text + "\n};\n";
    }

    std::string brain_function(const char* what) const {
        const std::string begin =
            signature(what) + " {\n    return hearth_" + what + "(&" + name_ + "_net, memory, ";
        if (what == std::string_view("init")) return begin + "error);\n}\n";
        if (what == std::string_view("load")) return begin + "brain, bytes, error);\n}\n";
        return begin + "brain, bytes, " + upper_ + "_BRAIN_BYTES, error);\n}\n";
    }

    // ------------------------------------------------------------------------ entries

    /// Steps between barriers: they may run at the same time.
    std::vector<std::vector<const Command*>> phases_of(const Entry& entry) const {
        std::vector<std::vector<const Command*>> phases(1);
        for (const Command& step : program_.commands_of(entry)) {
            if (step.kind != CommandKind::kBarrier)
                phases.back().push_back(&step);
            else if (!phases.back().empty())
                phases.emplace_back();
        }
        if (phases.back().empty()) phases.pop_back();
        return phases;
    }

    std::string groups_text(const Command& step) const {
        if (step.kind == CommandKind::kCopy || step.kind == CommandKind::kFill)
            return "(uint32_t)((" + count_text(program_.operands_of(step)[0].bytes) + " + " +
                   std::to_string(kCopyBytes - 1) + "u) / " + std::to_string(kCopyBytes) + "u)";
        std::string text;
        for (const GridAxis& axis : step.grid) {
            if (axis.work == Extent{1, 0} && axis.tile == 1) continue;
            const std::string count = axis.tile == 1 ? "(" + count_text(axis.work) + ")"
                                                     : "((" + count_text(axis.work) + " + " +
                                                           std::to_string(axis.tile - 1) + "u) / " +
                                                           std::to_string(axis.tile) + "u)";
            text += (text.empty() ? "" : " * ") + count;
        }
        return text.empty() ? "1u" : "(uint32_t)(" + text + ")";
    }

    std::string address(size_t entry_index, const Operand& operand) const {
        const Entry& entry = program_.entries[entry_index];
        switch (operand.region) {
            case Region::kArena:
                return "arena + " + std::to_string(operand.offset);
            case Region::kWeights:
                return "weights + " + std::to_string(operand.offset);
            case Region::kExternal:
                for (size_t i = 0; i < entry.bindings.size(); ++i)
                    if (entry.bindings[i] == operand.binding)
                        return "(void*)tensors->" + fields_[entry_index][i];
                break;
            case Region::kRun:
                break;
        }
        HEARTH_ASSERT(false && "an operand that is nowhere");
        return {};
    }

    /// One step, of which [first, end) of `groups` jobs run.
    std::string step_text(size_t entry, const Command& step) const {
        const std::span<const Operand> operands = program_.operands_of(step);
        if (step.kind == CommandKind::kDispatch) {
            std::string list;
            for (const Operand& o : operands)
                list += (list.empty() ? "" : ", ") + address(entry, o);
            return "                void* const operands[] = {" + list + "};\n                " +
                   kernel_name(step.kernel) +
                   "(operands, (int32_t)rows, (int32_t)from, (int32_t)to, (int32_t)groups);\n";
        }
        const std::string chunk = std::to_string(kCopyBytes) + "u";
        std::string text = "                const size_t bytes = " + count_text(operands[0].bytes) +
                           ", begin = (size_t)from * " + chunk +
                           ";\n"
                           "                const size_t stop = (size_t)to * " +
                           chunk + " < bytes ? (size_t)to * " + chunk + " : bytes;\n";
        if (step.kind == CommandKind::kCopy)
            return text + "                memcpy((unsigned char*)" + address(entry, operands[1]) +
                   " + begin, (const unsigned char*)" + address(entry, operands[0]) +
                   " + begin, stop - begin);\n";
        return text +
               "                for (size_t at = begin; at < stop; at += 4) {\n"
               "                    const uint32_t word = " +
               std::to_string(program_.words_of(step)[0]) +
               "u;\n                    memcpy((unsigned char*)" + address(entry, operands[0]) +
               " + at, &word, 4);\n                }\n";
    }

    std::string entry_source(size_t index) const {
        const Entry& entry = program_.entries[index];
        const EntrySignatures s = signatures(entry);
        const std::string name = entry_name(entry);
        const auto phases = phases_of(entry);
        std::string text = "\n/* -------------------------------------------------------- " +
                           in_comment(entry.name) + " */\n\n" + s.jobs +
                           " {\n    (void)rows;\n    "
                           "switch (phase) {\n";
        for (size_t p = 0; p < phases.size(); ++p) {
            text += "        case " + std::to_string(p) + ":\n            return ";
            for (size_t i = 0; i < phases[p].size(); ++i)
                text += (i == 0 ? "" : " +\n                   ") + groups_text(*phases[p][i]);
            text += ";\n";
        }
        text +=
            "        default:\n            return 0;\n    }\n}\n\n" + s.run +
            " {\n    unsigned char* const arena = (unsigned char*)memory->arena;\n"
            "    unsigned char* const weights = (unsigned char*)memory->weights;\n"
            "    uint32_t groups, from, to;\n"
            "    (void)arena, (void)weights, (void)tensors, (void)rows, (void)groups, (void)from, "
            "(void)to;\n    (void)first, (void)end;\n    switch (phase) {\n";
        for (size_t p = 0; p < phases.size(); ++p) {
            text += "        case " + std::to_string(p) + ": {\n            uint32_t before = 0;\n";
            for (const Command* step : phases[p])
                text += "            /* " + in_comment(step->label) +
                        " */\n            groups = " + groups_text(*step) +
                        ";\n            from = first > before ? first - before : 0;\n"
                        "            to = end > before ? end - before : 0;\n"
                        "            if (to > groups) to = groups;\n"
                        "            if (from < to) {\n" +
                        step_text(index, *step) + "            }\n            before += groups;\n";
            text += "            return;\n        }\n";
        }
        text += "        default:\n            return;\n    }\n}\n\n" + s.check + " {\n";
        text += "    const hearth_c_result result = hearth_check_memory(&" + name_ +
                "_net, memory, " + std::to_string(entry.arena_offset + entry.arena_bytes) +
                "u, error);\n    if (result != HEARTH_C_OK) return result;\n"
                "    if (rows == 0 || rows > " +
                upper_ +
                "_ROWS) {\n"
                "        hearth_text text = hearth_say(error, " +
                quoted(entry.name + ": there are ") +
                ");\n        hearth_add_number(&text, rows);\n"
                "        hearth_add_text(&text, \" rows, expected 1 to " +
                std::to_string(program_.max_batch_size) +
                "\");\n        return HEARTH_C_OUT_OF_RANGE;\n    }\n";
        if (entry.bindings.empty())
            text += "    (void)tensors;\n";
        else
            text +=
                "    if (tensors == 0) return hearth_refuse(error, HEARTH_C_INVALID_ARGUMENT, " +
                quoted(entry.name + ": tensors are null") + ");\n";
        for (size_t i = 0; i < entry.bindings.size(); ++i)
            text += "    if (tensors->" + fields_[index][i] +
                    " == 0) return hearth_refuse(error, HEARTH_C_INVALID_ARGUMENT, " +
                    quoted(entry.name + ": tensor '" + program_.bindings[entry.bindings[i]].name +
                           "' is null") +
                    ");\n";
        text += "    return HEARTH_C_OK;\n}\n\n" + s.call +
                " {\n    const hearth_c_result result = " + name +
                "_check(memory, tensors, rows, error);\n"
                "    if (result != HEARTH_C_OK) return result;\n"
                "    for (uint32_t phase = 0; phase < " +
                upper(name) + "_PHASES; ++phase)\n        " + name +
                "_run(memory, tensors, rows, phase, 0, " + name +
                "_jobs(phase, rows));\n    return HEARTH_C_OK;\n}\n";
        return text;
    }

    const CProgramText& of_;
    const Program& program_;
    const std::string name_, upper_;
    std::vector<size_t> slots_;  ///< in ascending order of names
    std::vector<std::byte> weights_;
    std::vector<std::vector<std::string>> fields_;  ///< of each entry's tensors
};

}  // namespace

Result<PrintedC> print_c_program(const CProgramText& program) {
    return ProgramPrinter(program).print();
}

}  // namespace hearth
