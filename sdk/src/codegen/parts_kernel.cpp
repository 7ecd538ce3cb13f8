// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Several groups as one kernel, each with some of the workgroups.
//
// A GPU fetches code from memory as it fetches data, and a workgroup runs its code once: what the
// kernel of all params' updates takes is mostly the time in which its text arrives.  So groups whose
// texts differ in buffers and integers alone, as the updates of all params do, share one function,
// whose parameters each chooses.

#include "codegen/group_kernels.hpp"
#include "codegen/operands.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace hearth {

namespace {

/// Which part touches each buffer, and whether element by element: only what one part alone
/// touches can be.
void note_part(GroupKernel& whole, const GroupKernel& part, uint32_t index,
               std::span<const ValueId> touched) {
    constexpr uint32_t kNobody = 0xffffffffu;
    whole.part_of.resize(part.buffers.values.size(), kNobody);
    whole.is_elementwise.resize(part.buffers.values.size(), false);
    for (size_t b = 0; b < part.buffers.values.size(); ++b) {
        if (std::find(touched.begin(), touched.end(), part.buffers.values[b]) == touched.end())
            continue;
        const bool is_first = whole.part_of[b] == kNobody;
        whole.part_of[b] = is_first ? index : 0;
        whole.is_elementwise[b] = is_first && part.is_elementwise[b];
    }
}

/// A part's statements in pieces: what all parts alike have, and between them numbers of buffers
/// and integers.
struct Pieces {
    std::vector<std::string> texts;     ///< one more than there are slots
    std::vector<bool> is_buffer;        ///< per slot
    std::vector<std::string> contents;  ///< per slot: "b12" or "4096"
    std::string key;                    ///< equal for parts that are alike

    void add(const std::string& content, bool buffer, const std::string& name) {
        key += texts.back() + (buffer ? "\x01" + name : "\x02");
        contents.push_back(content);
        is_buffer.push_back(buffer);
        texts.emplace_back();
    }
};

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

bool is_integer(const std::string& word) {
    return word.size() < 9 && std::all_of(word.begin(), word.end(), [](char c) {
               return std::isdigit(static_cast<unsigned char>(c)) != 0;
           });
}

/// The number of the buffer that "b12", "b12_load" or "b12_store" names, and where its name ends.
std::optional<size_t> buffer_in(const std::string& word, size_t& end) {
    end = 1;
    while (end < word.size() && std::isdigit(static_cast<unsigned char>(word[end])) != 0) ++end;
    const std::string rest = word.substr(std::min(end, word.size()));
    if (word[0] != 'b' || end == 1 || (rest != "_load" && rest != "_store")) return std::nullopt;
    return std::stoul(word.substr(1, end - 1));
}

class PartsWriter {
  public:
    PartsWriter(const Graph& graph, const LowerOptions& options)
        : graph_(graph), storage_(options.caps.narrow_storage()) {}

    struct Part {
        std::string statements;
        std::vector<std::string> calls;  ///< see GroupKernel
        uint64_t groups = 0;
    };
    void add(const GroupKernel& part) {
        Part added{part.statements, {}, part.grid[0].groups(1)};
        for (size_t at = 0; at < part.calls.size();) {
            const size_t end = part.calls.find('\n', at) + 1;
            added.calls.push_back(part.calls.substr(at, end - at));
            at = end;
        }
        parts_.push_back(std::move(added));
    }

    /// Functions and main().
    std::string write(const BufferTable& buffers) {
        buffers_ = &buffers;
        const std::string calls = share_calls();
        std::vector<std::string> keys;
        std::map<std::string, std::vector<size_t>> alike;
        for (size_t p = 0; p < parts_.size(); ++p) {
            pieces_.push_back(cut(parts_[p].statements));
            if (!alike.contains(pieces_[p].key)) keys.push_back(pieces_[p].key);
            alike[pieces_[p].key].push_back(p);
        }
        for (const std::string& key : keys) write_class(alike[key]);
        std::string macros;
        for (size_t b = 0; b < most_buffers_; ++b) {
            const std::string p = "p" + std::to_string(b);
            macros += "#define " + p + "_load(i) " + p + ".at[i]\n#define " + p +
                      "_store(i, value) " + p + ".at[i] = value\n";
        }
        return macros + functions_ +
               "void main() {\n    const int group = int(gl_WorkGroupID.x);\n" + calls + choice_ +
               "}\n";
    }

  private:
    /// Takes what most workgroups work out first out of the parts.
    std::string share_calls() {
        std::vector<std::string> order;
        std::map<std::string, uint64_t> callers;
        uint64_t all = 0;
        for (const Part& part : parts_) {
            all += part.groups;
            for (const std::string& call : part.calls) {
                if (!callers.contains(call)) order.push_back(call);
                callers[call] += part.groups;
            }
        }
        std::string shared;
        for (const std::string& call : order)
            if (2 * callers[call] >= all) shared += call;
        for (Part& part : parts_) {
            std::string own;
            for (const std::string& call : part.calls)
                if (2 * callers[call] < all) own += call;
            part.statements = own + part.statements;
        }
        return shared;
    }

    bool holds_floats(size_t buffer) const {
        return held_type(graph_.values[buffers_->values[buffer]].dtype, storage_).block ==
               held_type(DType::kF32, storage_).block;
    }

    Pieces cut(const std::string& statements) const {
        Pieces pieces;
        pieces.texts.emplace_back();
        std::map<size_t, size_t> order;  // buffers by their first appearance
        for (size_t at = 0; at < statements.size();) {
            if (!is_word(statements[at])) {
                pieces.texts.back() += statements[at++];
                continue;
            }
            size_t end = at;
            while (end < statements.size() && is_word(statements[end])) ++end;
            // An exponent's sign belongs to the number.
            const bool is_number = std::isdigit(static_cast<unsigned char>(statements[at])) != 0;
            if (is_number && std::tolower(statements[end - 1]) == 'e' && end < statements.size() &&
                (statements[end] == '-' || statements[end] == '+')) {
                ++end;
                while (end < statements.size() && is_word(statements[end])) ++end;
            }
            const std::string word = statements.substr(at, end - at);
            at = end;
            size_t name_end = 0;
            const std::optional<size_t> buffer = buffer_in(word, name_end);
            if (buffer && holds_floats(*buffer)) {
                const size_t number = order.try_emplace(*buffer, order.size()).first->second;
                pieces.add("b" + std::to_string(*buffer), true, std::to_string(number));
                pieces.texts.back() += word.substr(name_end);
            } else if (is_number && is_integer(word)) {
                pieces.add(word, false, "");
            } else {
                pieces.texts.back() += word;
            }
        }
        pieces.key += pieces.texts.back();
        return pieces;
    }

    void open_choice(uint64_t end) {
        choice_ += (next_ == 0 ? "    if (group < " : "    else if (group < ") +
                   std::to_string(end) + ") ";
    }

    void write_class(std::span<const size_t> members) {
        uint64_t end = next_;
        for (size_t p : members) end += parts_[p].groups;
        open_choice(end);
        const std::string name = "part" + std::to_string(members[0]);
        if (members.size() == 1) {
            functions_ +=
                "void " + name + "(int group) {\n" + parts_[members[0]].statements + "}\n";
            choice_ += name + "(group - " + std::to_string(next_) + ");\n";
            next_ = end;
            return;
        }
        // Slots of the same contents are one parameter, and integers that all share none.
        const Pieces& first = pieces_[members[0]];
        std::vector<std::string> names;
        std::map<std::vector<std::string>, std::string> known;
        std::vector<std::pair<std::string, size_t>> parameters;  // name, slot
        size_t buffers = 0;
        std::string text;
        for (size_t s = 0; s < first.contents.size(); ++s) {
            text += first.texts[s];
            std::vector<std::string> contents;
            for (size_t p : members) contents.push_back(pieces_[p].contents[s]);
            const bool is_same = std::all_of(contents.begin(), contents.end(),
                                             [&](const auto& c) { return c == contents[0]; });
            if (is_same && !first.is_buffer[s]) {
                text += contents[0];
                continue;
            }
            const auto [at, is_new] = known.try_emplace(contents);
            if (is_new) {
                at->second = first.is_buffer[s] ? "p" + std::to_string(buffers++)
                                                : "n" + std::to_string(known.size());
                parameters.emplace_back(at->second, s);
            }
            text += at->second;
        }
        text += first.texts.back();
        most_buffers_ = std::max(most_buffers_, buffers);
        const std::string type(held_type(DType::kF32, storage_).block);
        std::string heads, variables, arguments;
        for (const auto& [parameter, slot] : parameters) {
            const std::string declared = (first.is_buffer[slot] ? type : "int") + " " + parameter;
            heads += ", " + declared;
            variables += " " + declared + ";";
            arguments += ", " + parameter;
        }
        functions_ += "void " + name + "(int group" + heads + ") {\n" + text + "}\n";
        choice_ += "{\n        int begin;" + variables + "\n";
        for (size_t i = 0; i < members.size(); ++i) {
            const uint64_t part_end = next_ + parts_[members[i]].groups;
            choice_ += i == 0 ? "        " : "        else ";
            if (i + 1 < members.size()) choice_ += "if (group < " + std::to_string(part_end) + ") ";
            choice_ += "{ begin = " + std::to_string(next_) + ";";
            for (const auto& [parameter, slot] : parameters)
                choice_ += " " + parameter + " = " + pieces_[members[i]].contents[slot] + ";";
            choice_ += " }\n";
            next_ = part_end;
        }
        choice_ += "        " + name + "(group - begin" + arguments + ");\n    }\n";
    }

    const Graph& graph_;
    NarrowStorage storage_;
    const BufferTable* buffers_ = nullptr;
    std::vector<Part> parts_;
    std::vector<Pieces> pieces_;
    std::string functions_, choice_;
    uint64_t next_ = 0;  ///< workgroup
    size_t most_buffers_ = 0;
};

}  // namespace

std::optional<GroupKernel> parts_kernel(const Graph& graph, std::span<const Group* const> groups,
                                        const std::vector<bool>& inlined,
                                        const LowerOptions& options) {
    GroupKernel whole;
    whole.name = "parts";
    whole.local_size = {kPartThreads, 1, 1};
    std::vector<std::string> declared;
    PartsWriter writer(graph, options);
    uint64_t count = 0;
    for (size_t g = 0; g < groups.size(); ++g) {
        const Group& group = *groups[g];
        if (group.kind != GroupKind::kMap && group.kind != GroupKind::kRowwise) return std::nullopt;
        GroupKernel part = group.kind == GroupKind::kMap
                               ? map_kernel(graph, group, inlined, options, whole.buffers)
                               : rows_kernel(graph, group, inlined, options, whole.buffers);
        const GridAxis& axis = part.grid[0];
        if (part.statements.empty() || axis.work.per_row != 0 || part.local_size[0] != kPartThreads)
            return std::nullopt;
        for (const std::string& text : part.declarations) {
            if (std::find(declared.begin(), declared.end(), text) != declared.end()) continue;
            declared.push_back(text);
            whole.body += text;
        }
        writer.add(part);
        count += axis.groups(1);
        std::vector<ValueId> touched = loads_of(graph, group, inlined);
        touched.insert(touched.end(), group.stores.begin(), group.stores.end());
        note_part(whole, part, static_cast<uint32_t>(g + 1), touched);
        whole.buffers = std::move(part.buffers);
        whole.word_loads.insert(whole.word_loads.end(), part.word_loads.begin(),
                                part.word_loads.end());
        whole.pair_loads.insert(whole.pair_loads.end(), part.pair_loads.begin(),
                                part.pair_loads.end());
        whole.flops += part.flops;
    }
    if (count > options.caps.max_workgroup_count_x) return std::nullopt;
    whole.body += writer.write(whole.buffers);
    whole.grid[0] = {{count, 0}, 1};
    return whole;
}

}  // namespace hearth
