// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Transfers a brain to agents that observe more fields: a column of the network's input is known by
// the path of its field.

#include "program/application_data.hpp"

#include <hearth/agents/extend_brain.hpp>
#include <hearth/agents/schema.hpp>
#include <hearth/brain.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::agents {

namespace {

using Names = std::vector<std::string>;

/// Names of the columns that fields are encoded to, sets excluded.
void add_columns(std::span<const Field> fields, const std::string& path, Names& out) {
    for (const Field& f : fields) {
        const std::string own = path + "/" + f.name;
        const bool is_group = f.kind == FieldKind::kDict || f.kind == FieldKind::kArray;
        const int64_t repeats = f.kind == FieldKind::kArray ? f.count : 1;
        for (int64_t i = 0; is_group && i < repeats; ++i)
            add_columns(f.fields, own + "[" + std::to_string(i) + "]", out);
        for (int64_t i = 0; !is_group && i < f.encoded_size(); ++i)
            out.push_back(own + "." + std::to_string(i));
    }
}

/// Sets by their path ("place.embers"), in the order of the network's input.
void add_sets(std::span<const Field> fields, const std::string& path,
              std::vector<std::pair<std::string, const Field*>>& out) {
    for (const Field& f : fields) {
        const std::string own = path.empty() ? f.name : path + "." + f.name;
        if (f.kind == FieldKind::kEntities) out.emplace_back(own, &f);
        if (f.kind == FieldKind::kDict) add_sets(f.fields, own, out);
    }
}

/// Columns of one spec.
struct Inputs {
    explicit Inputs(const AgentSpec& spec) : frame_stack(spec.frame_stack()) {
        add_columns(spec.observations(), "", encoded);
        add_sets(spec.observations(), "", sets);
    }
    /// All of `width` columns of the network's input, or nothing if that cannot be: the encoded
    /// frames, then equally many features of each set.
    std::optional<Names> all(int64_t width) const {
        const int64_t frames = frame_stack * static_cast<int64_t>(encoded.size());
        const int64_t features = width - frames, count = static_cast<int64_t>(sets.size());
        if (features < 0 || (count == 0 ? features != 0 : features % count != 0)) return {};
        Names names;
        for (int64_t i = 0; i < frame_stack; ++i)
            for (const std::string& name : encoded) names.push_back(std::to_string(i) + name);
        // A set's features are means, then maxima, of as many each.
        for (const auto& [path, field] : sets)
            for (int64_t i = 0; i < features / count; ++i)
                names.push_back("set " + path + "." + std::to_string(i));
        return names;
    }
    /// Columns of a set's elements; empty if there is no such set.
    Names of_elements(std::string_view path) const {
        Names names;
        for (const auto& [own, field] : sets)
            if (own == path) add_columns(field->fields, "", names);
        return names;
    }

    int64_t frame_stack = 1;
    Names encoded;
    std::vector<std::pair<std::string, const Field*>> sets;
};

/// Checks that each field of `before` is one of `now`, in the same order.
Status check_fields(std::span<const Field> before, std::span<const Field> now,
                    const std::string& path) {
    size_t next = 0;  // in `now`
    for (const Field& old : before) {
        const auto same = std::ranges::find(now, old.name, &Field::name);
        const std::string own = path + old.name;
        if (same == now.end())
            return invalid_argument("the field '" + own + "' of the brain is gone; only added " +
                                    "fields can be bridged, so keep it or train anew");
        const bool is_equal = same->kind == old.kind && same->count == old.count &&
                              same->range == old.range && same->normalized == old.normalized;
        if (!is_equal)
            return invalid_argument("the field '" + own + "' differs from the brain's in kind, " +
                                    "count, range or normalization; name a changed field anew");
        if (same < now.begin() + static_cast<long>(next))
            return invalid_argument("the field '" + own +
                                    "' comes earlier than in the brain; keep the fields' order");
        next = static_cast<size_t>(same - now.begin()) + 1;
        HEARTH_TRY(check_fields(old.fields, same->fields, own + "/"));
    }
    return {};
}

Result<AgentSpec> spec_of(const Brain& brain, const char* which) {
    const ApplicationData data = read_application_data(brain.user_data);
    if (!data.spec.empty() && !data.is_saved_game) return AgentSpec::load(data.spec);
    return invalid_argument(std::string("the ") + which +
                            (data.is_saved_game ? " brain is a saved game; expected "
                                                  "what Agents::save returned"
                                                : " brain is not of agents"));
}

/// The tensor of the brain that initializes `name` in another: itself, the published or the
/// learning one, as when a brain of weights is loaded.
const BrainTensor* find_source(const Brain& brain, std::string_view name) {
    if (const BrainTensor* const found = brain.find(name)) return found;
    for (const std::string_view prefix : {"published.param.", "published.state.", "target."})
        if (name.starts_with(prefix)) return find_source(brain, name.substr(prefix.size()));
    const BrainTensor* const param = brain.find("published.param." + std::string(name));
    return param != nullptr ? param : brain.find("published.state." + std::string(name));
}

/// True for what acting and learning on need; false for the optimizer and the open rollout.
bool is_learned(const BrainTensor& tensor) {
    const auto begins = [&](std::string_view prefix) { return tensor.name.starts_with(prefix); };
    return !tensor.is_state || begins("published.") || begins("target.") ||
           begins("observations.") || begins("rewards.");
}

/// Names of an axis that has as many elements as the brain's (`old_count`) and ours (`new_count`).
struct AxisNames {
    Names before, now;
};
std::optional<AxisNames> names_of(const Inputs& before, const Inputs& now, std::string_view tensor,
                                  int64_t old_count, int64_t new_count) {
    const auto fits = [&](const AxisNames& names) {
        return static_cast<int64_t>(names.before.size()) == old_count &&
               static_cast<int64_t>(names.now.size()) == new_count;
    };
    for (const auto& [path, field] : now.sets)
        if (tensor.find("sets." + path + ".") != std::string_view::npos)
            if (AxisNames names{before.of_elements(path), now.of_elements(path)}; fits(names))
                return names;
    if (AxisNames names{before.encoded, now.encoded}; fits(names)) return names;
    std::optional<Names> all_before = before.all(old_count), all_now = now.all(new_count);
    if (!all_before || !all_now) return {};
    return AxisNames{std::move(*all_before), std::move(*all_now)};
}

/// Copies `from` along `axis` by name.  Elements without a counterpart keep their values in
/// statistics and become zero in weights.
void copy_by_name(const BrainTensor& from, int axis, const AxisNames& names, BrainTensor& to) {
    std::map<std::string_view, size_t> places;
    for (size_t i = 0; i < names.before.size(); ++i) places.emplace(names.before[i], i);
    const Shape& shape = to.value.shape();
    size_t outer = 1, inner = to.value.bytes().size() /
                              static_cast<size_t>(std::max<int64_t>(to.value.element_count(), 1));
    for (int i = 0; i < axis; ++i) outer *= static_cast<size_t>(shape[i].count);
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= static_cast<size_t>(shape[i].count);
    const bool is_statistic = to.name.find("observations.") != std::string::npos;
    for (size_t o = 0; o < outer; ++o)
        for (size_t i = 0; i < names.now.size(); ++i) {
            std::byte* const out = to.value.bytes().data() + (o * names.now.size() + i) * inner;
            const auto place = places.find(names.now[i]);
            if (place != places.end())
                std::memcpy(
                    out,
                    from.value.bytes().data() + (o * names.before.size() + place->second) * inner,
                    inner);
            else if (!is_statistic)
                std::memset(out, 0, inner);
        }
}

Status transfer(const Brain& old, const Inputs& before, const Inputs& now, BrainTensor& to) {
    const BrainTensor* const from = find_source(old, to.name);
    if (from == nullptr) {
        // Weights of a set that was added: its features have zero weight behind.
        for (const auto& [path, field] : now.sets)
            if (to.name.find("sets." + path + ".") != std::string::npos) return {};
        // A brain of weights lacks counters.
        const bool is_weight = !to.is_state || to.name.starts_with("published.param.") ||
                               to.name.starts_with("target.");
        if (!is_weight) return {};
        return invalid_argument("the brain has no '" + to.name + "'; expected the same network");
    }
    const Shape &a = from->value.shape(), &b = to.value.shape();
    const auto misfit = [&] {
        return invalid_argument("'" + to.name + "' is " + to_string(a) + " in the brain and " +
                                to_string(b) + " in these agents, which does not follow from the " +
                                "observations; expected the same network and actions");
    };
    if (a.rank() != b.rank() || from->value.dtype() != to.value.dtype()) return misfit();
    std::optional<int> axis;
    for (int i = 0; i < b.rank(); ++i) {
        if (a[i] == b[i]) continue;
        if (axis) return misfit();
        axis = i;
    }
    if (!axis) {
        to.value = from->value;
        return {};
    }
    const auto names = names_of(before, now, to.name, a[*axis].count, b[*axis].count);
    if (!names) return misfit();
    copy_by_name(*from, *axis, *names, to);
    return {};
}

}  // namespace

Result<std::vector<std::byte>> extend_brain(std::span<const std::byte> brain,
                                            std::span<const std::byte> fresh) {
    HEARTH_ASSIGN(const Brain old, load_brain(brain));
    HEARTH_ASSIGN(Brain extended, load_brain(fresh));
    HEARTH_ASSIGN(const AgentSpec old_spec, spec_of(old, "old"));
    HEARTH_ASSIGN(const AgentSpec new_spec, spec_of(extended, "fresh"));
    HEARTH_TRY(check_fields(old_spec.observations(), new_spec.observations(), ""));
    if (old_spec.frame_stack() != new_spec.frame_stack() ||
        old_spec.actions() != new_spec.actions())
        return invalid_argument(
            "the actions or the frame stack differ from the brain's; only observations can be "
            "added");
    const Inputs before(old_spec), now(new_spec);
    for (BrainTensor& tensor : extended.tensors)
        if (is_learned(tensor)) HEARTH_TRY(transfer(old, before, now, tensor));
    return save_brain(extended);
}

}  // namespace hearth::agents
