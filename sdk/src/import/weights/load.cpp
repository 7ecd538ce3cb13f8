// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Loads weights by name into params and states: renames, checks shapes and converts types.

#include "compiler/ir/graph.hpp"
#include "import/weights/pattern.hpp"
#include "program/legacy_names.hpp"

#include <hearth/weights.hpp>

#include <algorithm>
#include <set>

namespace hearth {

namespace {

std::string typed(DType dtype, const Shape& shape) {
    return std::string(name_of(dtype)) + to_string(shape);
}

/// A tensor that weights can be loaded into.
struct Target {
    DType dtype = DType::kF32;
    Shape shape;
    bool is_required = true;
};
using Targets = std::map<std::string, Target, std::less<>>;

/// The report, and the converted contents of each target that fits.
struct Match {
    LoadReport report;
    NamedTensors contents;
};

/// Renaming rules with their patterns compiled.
class Renamer {
  public:
    static Result<Renamer> make(std::span<const KeyRule> rules) {
        Renamer renamer;
        renamer.rules_ = rules;
        for (const KeyRule& rule : rules) {
            const bool is_pattern = rule.kind == KeyRule::Kind::kReplace;
            HEARTH_ASSIGN(Pattern pattern, Pattern::parse(is_pattern ? rule.pattern : ""));
            renamer.patterns_.push_back(std::move(pattern));
        }
        return renamer;
    }

    Result<std::string> apply(std::string_view from) const {
        std::string name(from);
        for (size_t i = 0; i < rules_.size(); ++i) {
            const KeyRule& rule = rules_[i];
            switch (rule.kind) {
                case KeyRule::Kind::kStripPrefix:
                    if (name.starts_with(rule.pattern)) name.erase(0, rule.pattern.size());
                    break;
                case KeyRule::Kind::kAddPrefix:
                    name = rule.pattern + name;
                    break;
                case KeyRule::Kind::kReplace: {
                    HEARTH_ASSIGN(name, patterns_[i].replace(name, rule.replacement));
                    break;
                }
            }
        }
        return name;
    }

  private:
    std::span<const KeyRule> rules_;
    std::vector<Pattern> patterns_;
};

bool fits(const HostTensor& tensor, const Target& target, bool convert) {
    if (tensor.shape() != target.shape) return false;
    return tensor.dtype() == target.dtype ||
           (convert && is_floating(tensor.dtype()) && is_floating(target.dtype));
}

Result<Match> match(const NamedTensors& file, const Targets& targets, const LoadOptions& options) {
    HEARTH_ASSIGN(const Renamer renamer, Renamer::make(options.rules));
    Match match;
    std::set<std::string, std::less<>> seen;
    for (const auto& [original, tensor] : file) {
        HEARTH_ASSIGN(std::string name, renamer.apply(original));
        // A learner of another version has other names for some of its params.
        if (const AliasName alias = alias_of_variable(name);
            !targets.contains(name) && targets.contains(alias.view()))
            name = alias.view();
        if (!seen.insert(name).second)
            return invalid_argument("'" + original + "' and another tensor are both renamed to '" +
                                    name + "'");
        const auto target = targets.find(name);
        if (target == targets.end())
            match.report.unexpected.push_back(name);
        else if (!fits(tensor, target->second, options.convert))
            match.report.mismatched.push_back({name,
                                               typed(target->second.dtype, target->second.shape),
                                               typed(tensor.dtype(), tensor.shape())});
        else
            match.contents.emplace(name, tensor.cast(target->second.dtype));
    }
    for (const auto& [name, target] : targets)
        if (target.is_required && !seen.contains(name)) match.report.missing.push_back(name);
    for (const auto& [name, tensor] : match.contents) match.report.loaded.push_back(name);
    std::sort(match.report.unexpected.begin(), match.report.unexpected.end());
    std::sort(match.report.mismatched.begin(), match.report.mismatched.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    if (options.strict && !match.report.is_complete())
        return invalid_argument("the weights do not match the program: " + match.report.text("; "));
    return match;
}

std::string list(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

}  // namespace

std::string LoadReport::text(std::string_view separator) const {
    std::string text = std::to_string(loaded.size()) + " loaded";
    const auto line = [&](size_t count, std::string_view what, const std::string& names) {
        if (count > 0)
            text += std::string(separator) + std::to_string(count) + " " + std::string(what) +
                    ": " + names;
    };
    line(missing.size(), "missing", list(missing));
    line(unexpected.size(), "unexpected", list(unexpected));
    std::vector<std::string> shapes;
    for (const Mismatch& m : mismatched)
        shapes.push_back(m.name + " (expected " + m.expected + ", found " + m.found + ")");
    line(mismatched.size(), "misshapen", list(shapes));
    return text;
}

Result<std::string> remap_key(std::span<const KeyRule> rules, std::string_view name) {
    HEARTH_ASSIGN(const Renamer renamer, Renamer::make(rules));
    return renamer.apply(name);
}

Result<LoadReport> load_weights(const NamedTensors& file, NamedTensors& into,
                                const LoadOptions& options) {
    Targets targets;
    for (const auto& [name, tensor] : into) targets[name] = {tensor.dtype(), tensor.shape(), true};
    HEARTH_ASSIGN(Match found, match(file, targets, options));
    for (auto& [name, tensor] : found.contents) into.find(name)->second = std::move(tensor);
    return found.report;
}

Result<LoadReport> load_weights(const NamedTensors& file, Trace& trace,
                                const LoadOptions& options) {
    HEARTH_TRY(trace.status());
    Targets targets;
    for (const Value& v : trace.graph().values)
        if (v.kind == ValueKind::kParam || v.kind == ValueKind::kState)
            targets[v.name] = {v.dtype, v.shape, v.kind == ValueKind::kParam};
    HEARTH_ASSIGN(Match found, match(file, targets, options));
    for (Value& v : mutable_graph(trace).values) {
        if (v.kind != ValueKind::kParam && v.kind != ValueKind::kState) continue;
        if (const auto at = found.contents.find(v.name); at != found.contents.end())
            v.data = std::make_shared<const HostTensor>(std::move(at->second));
    }
    return found.report;
}

NamedTensors state_dict(const Trace& trace, bool with_states) {
    NamedTensors weights;
    for (const Value& v : trace.graph().values)
        if (v.kind == ValueKind::kParam || (with_states && v.kind == ValueKind::kState))
            weights.emplace(v.name, v.data ? *v.data : HostTensor(v.dtype, v.shape));
    return weights;
}

}  // namespace hearth
