// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Generates the C header of a package: indices, names, shapes and sizes as macros.

#include "c_header.hpp"

#include "core/path.hpp"

#include <hearth/hearth.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace hearth::tool {

namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Converts a name to a macro identifier: "obs/left eye" to OBS_LEFT_EYE.
std::string upper_identifier(std::string_view name) {
    std::string text;
    for (const char c : name) {
        if (is_letter(c) || is_digit(c))
            text += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        else if (!text.empty() && text.back() != '_')
            text += '_';
    }
    while (!text.empty() && text.back() == '_') text.pop_back();
    return text.empty() ? "UNNAMED" : text;
}

std::string c_string(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        // '?' is escaped because two of them may begin a trigraph.
        if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\' || c == '?')
            quoted += fmt::format("\\{:03o}", byte);
        else
            quoted += c;
    }
    return quoted + "\"";
}

/// Makes `text` safe inside a C comment: it cannot end the comment.
std::string in_comment(std::string_view text) {
    std::string shown(text);
    replace_control_characters(shown.data(), shown.size());
    for (size_t at = 0; (at = shown.find("*/", at)) != std::string::npos;) shown[at] = '?';
    return shown;
}

class HeaderWriter {
  public:
    HeaderWriter(std::string_view path, std::span<const Program> programs)
        : prefix_(c_prefix(path)), programs_(programs) {}

    Result<std::string> write(std::string_view package, uint64_t graph_hash) {
        text_ = fmt::format(
            "/* Written by `hearth cook` for {}: do not edit. */\n\n#ifndef {}H_\n#define {}H_\n\n"
            "#include <hearth/hearth.h>\n\n",
            in_comment(package), prefix_, prefix_);
        number("GRAPH_HASH", fmt::format("UINT64_C(0x{:016x})", graph_hash));
        number("MAX_BATCH_SIZE", fmt::format("UINT64_C({})", first().max_batch_size));
        for (uint32_t e = 0; e < first().entries.size(); ++e) HEARTH_TRY(entry(e));
        for (uint32_t s = 0; s < first().variables.size(); ++s) variable(s);
        matches();
        text_ += fmt::format("#endif /* {}H_ */\n", prefix_);
        return std::move(text_);
    }

  private:
    const Program& first() const { return programs_[0]; }

    /// The prefixed name, with a number appended if it is taken.
    std::string unique(const std::string& name) {
        std::string own = prefix_ + name;
        for (int i = 2; !names_.insert(own).second; ++i)
            own = prefix_ + name + "_" + std::to_string(i);
        return own;
    }
    void define(const std::string& name, const std::string& value) {
        text_ += "#define " + name + " " + value + "\n";
    }
    void number(const std::string& name, const std::string& value) { define(unique(name), value); }

    void shape(const std::string& name, const Shape& shape) {
        define(name + "_RANK", fmt::format("{}", shape.rank()));
        std::string dims;
        for (int i = 0; i < shape.rank(); ++i)
            dims += (i > 0 ? ", " : "") +
                    (shape[i].is_batch ? fmt::format("INT64_C({}) * (batch_size)", shape[i].count)
                                       : fmt::format("{}", shape[i].count));
        if (shape.rank() > 0) define(name + "_SHAPE(batch_size)", "{ " + dims + " }");
    }

    Status entry(uint32_t index) {
        const Entry& e = first().entries[index];
        for (const Program& p : programs_)
            if (p.entries.size() != first().entries.size() || p.entries[index].name != e.name ||
                p.entries[index].bindings != e.bindings)
                return internal_error("device targets differ in the entry '" + e.name + "'");
        const std::string name = upper_identifier(e.name);
        text_ += fmt::format("\n/* entry \"{}\" */\n", in_comment(e.name));
        const std::string own = unique("ENTRY_" + name);
        define(own, fmt::format("{}u", index));
        define(own + "_NAME", c_string(e.name));
        define(own + "_BINDING_COUNT", fmt::format("{}u", e.bindings.size()));
        for (const uint32_t b : e.bindings) HEARTH_TRY(binding(name, b));
        return {};
    }

    Status binding(const std::string& entry_name, uint32_t index) {
        const Binding& b = first().bindings[index];
        bool same_bytes = true;
        for (const Program& p : programs_) {
            if (index >= p.bindings.size() || p.bindings[index].name != b.name ||
                p.bindings[index].elements != b.elements)
                return internal_error("device targets differ in the binding '" + b.name + "'");
            same_bytes = same_bytes && p.bindings[index].bytes == b.bytes;
        }
        const DType in_buffer = device_dtype(b.dtype, first().storage);
        text_ += fmt::format("/* {} \"{}\": {} {}, in the buffer {} */\n",
                             b.direction == Direction::kOutput  ? "output"
                             : b.direction == Direction::kInOut ? "input and output,"
                                                                : "input",
                             in_comment(b.name), name_of(b.dtype), to_string(b.shape),
                             same_bytes ? std::string(name_of(in_buffer))
                                        : "of a type that differs between device targets");
        const std::string own = unique(entry_name + "_" + upper_identifier(b.name));
        define(own, fmt::format("{}u", index));
        define(own + "_NAME", c_string(b.name));
        shape(own, b.shape);
        if (same_bytes)
            define(own + "_BYTES(batch_size)",
                   fmt::format("(UINT64_C({}) + UINT64_C({}) * (batch_size))", b.bytes.fixed,
                               b.bytes.is_batch));
        for (size_t i = 0; i < b.elements.size(); ++i)
            define(unique(own.substr(prefix_.size()) + "_" + upper_identifier(b.elements[i])),
                   fmt::format("{}u", i));
        return {};
    }

    void variable(uint32_t index) {
        const Variable& s = first().variables[index];
        if (s.kind == VariableKind::kConstant) return;
        const bool is_same = std::all_of(programs_.begin(), programs_.end(), [&](const Program& p) {
            return index < p.variables.size() && p.variables[index].name == s.name;
        });
        const char* kind = s.kind == VariableKind::kParam   ? "param"
                           : s.kind == VariableKind::kState ? "state"
                                                            : "non-persistent state";
        text_ += fmt::format("\n/* {} \"{}\": {} {} */\n", kind, in_comment(s.name),
                             name_of(s.dtype), to_string(s.shape));
        const std::string own = unique("VARIABLE_" + upper_identifier(s.name));
        if (is_same)
            define(own, fmt::format("{}u", index));
        else
            text_ +=
                "/* Its index differs between device targets: hearth_program_find_variable. */\n";
        define(own + "_NAME", c_string(s.name));
        shape(own, s.shape);
    }

    void matches() {
        std::string lower = prefix_;
        std::transform(lower.begin(), lower.end(), lower.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
        text_ += fmt::format(
            "\n/* Non-zero if `program` has the graph and the maximum batch size of this header. "
            "*/\n"
            "static inline int {0}matches(const hearth_program* program) {{\n"
            "    hearth_program_info info = hearth_program_info_default();\n"
            "    return hearth_program_get_info(program, &info) == HEARTH_OK &&\n"
            "           info.graph_hash == {1}GRAPH_HASH && info.max_batch_size == "
            "{1}MAX_BATCH_SIZE;\n"
            "}}\n\n",
            lower, prefix_);
    }

    std::string prefix_, text_;
    std::span<const Program> programs_;
    std::set<std::string> names_;
};

}  // namespace

std::string c_prefix(std::string_view path) {
    const std::string stem = upper_identifier(path_of(path).stem().string());
    return (is_digit(stem[0]) ? "NET_" : "") + stem + "_";
}

Result<std::string> c_header(std::string_view path, std::string_view package, uint64_t graph_hash,
                             std::span<const Program> programs) {
    if (programs.empty()) return internal_error("there is no program");
    return HeaderWriter(path, programs).write(package, graph_hash);
}

}  // namespace hearth::tool
