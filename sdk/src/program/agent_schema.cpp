// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Agent schemas: names, sizes and layout of observations and actions, their comparison and
// serialization.

#include "core/bytes.hpp"

#include <hearth/agents/schema.hpp>
#include <hearth/core/hash.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace hearth::agents {

namespace {

constexpr int64_t kMostFloats = 65536;
constexpr int kMostNesting = 8;
constexpr uint32_t kVersion = 1;
constexpr uint32_t kMagic = 0x31534148;  // "HAS1"

bool has_parts(FieldKind kind) {
    return kind == FieldKind::kDict || kind == FieldKind::kArray || kind == FieldKind::kEntities;
}

std::string_view name_of(FieldKind kind) {
    switch (kind) {
        case FieldKind::kBox:
            return "numbers";
        case FieldKind::kDiscrete:
            return "one-hot";
        case FieldKind::kPosition:
            return "location";
        case FieldKind::kUnitVector:
            return "direction";
        case FieldKind::kAngle:
            return "angle";
        case FieldKind::kQuaternion:
            return "rotation";
        case FieldKind::kDict:
            return "group";
        case FieldKind::kArray:
            return "array";
        case FieldKind::kEntities:
            return "set";
    }
    return "?";
}

Status check_name(std::string_view name) {
    const bool is_sound =
        !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
            return c >= ' ' && c != 0x7f && c != '/' && c != '[' && c != ']';
        });
    if (is_sound) return {};
    return invalid_argument(
        "schema: " + quoted(name) +
        " is not a valid name; expected 1 to 64 printable characters without '/', '[' and ']'");
}

Status check_range(std::string_view name, const Range& range) {
    if (std::isfinite(range.low) && std::isfinite(range.high) && range.low < range.high) return {};
    return invalid_argument("schema: range of '" + std::string(name) + "' is [" +
                            std::to_string(range.low) + ", " + std::to_string(range.high) +
                            "]; expected finite numbers, low < high");
}

Status check_count(std::string_view name, int64_t count, int64_t least) {
    if (count >= least && count <= kMostFloats) return {};
    return invalid_argument("schema: '" + std::string(name) + "' has a size of " +
                            std::to_string(count) + "; expected " + std::to_string(least) + " to " +
                            std::to_string(kMostFloats));
}

template <class T>
Status check_unique(const std::vector<T>& list, std::string_view name) {
    for (const T& other : list)
        if (other.name == name)
            return invalid_argument("schema: '" + std::string(name) + "' is there twice");
    return {};
}

// Saturating arithmetic at the limit, so that hostile sizes do not overflow.
int64_t limited_product(int64_t a, int64_t b) {
    return a != 0 && b > (kMostFloats + 1) / a ? kMostFloats + 1 : a * b;
}
int64_t limited_sum(int64_t a, int64_t b) {
    return std::min(a + b, kMostFloats + 1);
}

int64_t raw_width_of(std::span<const Field> list) {
    int64_t total = 0;
    for (const Field& f : list) total = limited_sum(total, f.raw_size());
    return total;
}
int64_t encoded_width_of(std::span<const Field> list) {
    int64_t total = 0;
    for (const Field& f : list) total = limited_sum(total, f.encoded_size());
    return total;
}

std::string axis_name(int64_t axis, int64_t axes) {
    constexpr std::string_view kAxes = "xyzw";
    if (axes <= 4) return "." + std::string(1, kAxes[static_cast<size_t>(axis)]);
    return "[" + std::to_string(axis) + "]";
}

/// Path of a raw observation element: "speed", "rays[3]", "enemies[2]/place.x", "enemies (how
/// many)".
std::string name_in(std::span<const Field> list, int64_t index) {
    for (const Field& f : list) {
        if (index >= f.raw_size()) {
            index -= f.raw_size();
            continue;
        }
        switch (f.kind) {
            case FieldKind::kBox:
                return f.count == 1 ? f.name : f.name + "[" + std::to_string(index) + "]";
            case FieldKind::kDiscrete:
            case FieldKind::kAngle:
                return f.name;
            case FieldKind::kPosition:
            case FieldKind::kUnitVector:
                return f.name + axis_name(index, f.count);
            case FieldKind::kQuaternion:
                return f.name + axis_name(index, 4);
            case FieldKind::kDict:
                return f.name + "/" + name_in(f.fields, index);
            case FieldKind::kEntities:
                if (index == 0) return f.name + " (how many)";
                --index;
                [[fallthrough]];
            case FieldKind::kArray: {
                const int64_t width = raw_width_of(f.fields);
                return f.name + "[" + std::to_string(index / width) + "]/" +
                       name_in(f.fields, index % width);
            }
        }
    }
    return "?";
}

std::string names_of(std::span<const Field> list) {
    std::string out;
    for (const Field& f : list) out += (out.empty() ? "'" : ", '") + f.name + "'";
    return out;
}

// --- Differences ---

std::string text_of(double value) {
    std::string text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}
std::string text_of(const Range& r) {
    return "[" + text_of(r.low) + ", " + text_of(r.high) + "]";
}

std::string differs(const std::string& path, std::string_view what, const std::string& here,
                    const std::string& there) {
    return path + ": " + std::string(what) + (what.empty() ? "" : " ") + here + " here, " + there +
           " there";
}

std::string difference_of(const std::string& path, const Action& a, const Action& b) {
    const auto kind = [](const Action& x) {
        return std::string(x.is_discrete ? "a choice" : "numbers");
    };
    if (a.is_discrete != b.is_discrete) return differs(path, "", kind(a), kind(b));
    if (a.count != b.count)
        return differs(path, a.is_discrete ? "choices" : "width", std::to_string(a.count),
                       std::to_string(b.count));
    if (!(a.range == b.range)) return differs(path, "range", text_of(a.range), text_of(b.range));
    if (a.masked != b.masked)
        return differs(path, "", a.masked ? "masked" : "not masked",
                       b.masked ? "masked" : "not masked");
    return {};
}

template <class T>
std::string difference_of_lists(const std::string& path, const std::vector<T>& a,
                                const std::vector<T>& b);

std::string difference_of(const std::string& path, const Field& a, const Field& b) {
    if (a.kind != b.kind)
        return differs(path, "", std::string(name_of(a.kind)), std::string(name_of(b.kind)));
    if (a.count != b.count) {
        const char* const what = a.kind == FieldKind::kBox        ? "width"
                                 : a.kind == FieldKind::kDiscrete ? "options"
                                 : has_parts(a.kind)              ? "elements"
                                                                  : "axes";
        return differs(path, what, std::to_string(a.count), std::to_string(b.count));
    }
    if (!(a.range == b.range)) return differs(path, "range", text_of(a.range), text_of(b.range));
    if (a.normalized != b.normalized)
        return differs(path, "", a.normalized ? "normalized" : "not normalized",
                       b.normalized ? "normalized" : "not normalized");
    return difference_of_lists(path, a.fields, b.fields);
}

// Names the first field that differs in name or order, rather than the sizes of the lists.
template <class T>
std::string difference_of_lists(const std::string& path, const std::vector<T>& a,
                                const std::vector<T>& b) {
    const auto has = [](const std::vector<T>& list, const std::string& name) {
        return std::ranges::any_of(list, [&](const T& x) { return x.name == name; });
    };
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        if (i < a.size() && !has(b, a[i].name)) return path + "/" + a[i].name + ": only here";
        if (i < b.size() && !has(a, b[i].name)) return path + "/" + b[i].name + ": only there";
        if (i >= a.size() || i >= b.size()) break;
        if (a[i].name != b[i].name)
            return differs(path, "at place " + std::to_string(i), "'" + a[i].name + "'",
                           "'" + b[i].name + "'");
        if (std::string text = difference_of(path + "/" + a[i].name, a[i], b[i]); !text.empty())
            return text;
    }
    return {};
}

// --- Serialization ---

void write(ByteWriter& out, const Range& range) {
    out.number(range.low).number(range.high);
}
Range read_range(ByteReader& in) {
    Range range;
    range.low = in.number<double>();
    range.high = in.number<double>();
    return range;
}

void write(ByteWriter& out, const std::vector<Field>& list) {
    out.number(static_cast<uint32_t>(list.size()));
    for (const Field& f : list) {
        out.counted_text(f.name).number(static_cast<uint8_t>(f.kind)).number(f.count);
        write(out, f.range);
        out.number(static_cast<uint8_t>(f.normalized));
        if (has_parts(f.kind)) write(out, f.fields);
    }
}

ObservationSpec read_fields(ByteReader& in, int depth);

/// Reads through the builder, so that files obey the same rules as code.
void read_field(ByteReader& in, int depth, ObservationSpec& into) {
    const std::string name(in.counted_text());
    const auto kind = static_cast<FieldKind>(in.number<uint8_t>());
    const auto count = in.number<int64_t>();
    const Range range = read_range(in);
    const bool normalized = in.number<uint8_t>() != 0;
    switch (kind) {
        case FieldKind::kBox:
            into.box(name, count, range, normalized);
            return;
        case FieldKind::kDiscrete:
            into.discrete(name, count);
            return;
        case FieldKind::kPosition:
            into.position(name, count, range.high);
            return;
        case FieldKind::kUnitVector:
            into.unit_vector(name, count);
            return;
        case FieldKind::kAngle:
            into.angle(name);
            return;
        case FieldKind::kQuaternion:
            into.quaternion(name);
            return;
        case FieldKind::kDict:
            into.dict(name, read_fields(in, depth + 1));
            return;
        case FieldKind::kArray:
            into.array(name, count, read_fields(in, depth + 1));
            return;
        case FieldKind::kEntities:
            into.entities(name, count, read_fields(in, depth + 1));
            return;
    }
    in.seek(~uint64_t{0});
}

ObservationSpec read_fields(ByteReader& in, int depth) {
    ObservationSpec out;
    if (depth > kMostNesting) {
        in.seek(~uint64_t{0});
        return out;
    }
    const uint32_t count = in.count(30);
    for (uint32_t i = 0; i < count && !in.failed() && out.status().ok(); ++i)
        read_field(in, depth, out);
    return out;
}

int depth_of(std::span<const Field> list) {
    int deepest = 0;
    for (const Field& f : list) deepest = std::max(deepest, depth_of(f.fields) + 1);
    return deepest;
}

bool holds_set(std::span<const Field> list) {
    return std::ranges::any_of(
        list, [](const Field& f) { return f.kind == FieldKind::kEntities || holds_set(f.fields); });
}

}  // namespace

int64_t Field::raw_size() const {
    switch (kind) {
        case FieldKind::kBox:
        case FieldKind::kPosition:
        case FieldKind::kUnitVector:
            return count;
        case FieldKind::kDiscrete:
        case FieldKind::kAngle:
            return 1;
        case FieldKind::kQuaternion:
            return 4;
        case FieldKind::kDict:
            return raw_width_of(fields);
        case FieldKind::kArray:
            return limited_product(count, raw_width_of(fields));
        case FieldKind::kEntities:
            return limited_sum(1, limited_product(count, raw_width_of(fields)));
    }
    return 0;
}

int64_t Field::encoded_size() const {
    switch (kind) {
        case FieldKind::kBox:
        case FieldKind::kDiscrete:
        case FieldKind::kPosition:
        case FieldKind::kUnitVector:
            return count;
        case FieldKind::kAngle:
            return 2;
        case FieldKind::kQuaternion:
            return 6;
        case FieldKind::kDict:
            return encoded_width_of(fields);
        case FieldKind::kArray:
            return limited_product(count, encoded_width_of(fields));
        case FieldKind::kEntities:
            return 0;
    }
    return 0;
}

ObservationSpec& ObservationSpec::add(Field field, const ObservationSpec* fields) {
    Status status = check_name(field.name);
    if (status.ok()) status = check_unique(list_, field.name);
    const bool has_axes = field.kind == FieldKind::kUnitVector;
    if (status.ok()) status = check_count(field.name, field.count, has_axes ? 2 : 1);
    if (status.ok()) status = check_range(field.name, field.range);
    if (status.ok() && fields != nullptr) {
        field.fields = fields->list();
        if (!fields->status().ok())
            status = fields->status().with_context("in '" + field.name + "'");
        else if (field.fields.empty())
            status =
                invalid_argument("schema: '" + field.name + "' has no fields; add at least one");
        else if (depth_of(field.fields) >= kMostNesting)
            status = invalid_argument("schema: '" + field.name +
                                      "' is nested too deeply; flatten its groups");
        else if (field.kind != FieldKind::kDict && holds_set(field.fields))
            status = unsupported("schema: '" + field.name +
                                 "' contains a set of entities, which only groups may; move it to "
                                 "the top level or into a group");
    }
    if (status.ok()) status = check_count(field.name, field.raw_size(), 1);
    if (status.ok()) list_.push_back(std::move(field));
    if (status_.ok()) status_ = std::move(status);
    return *this;
}

ObservationSpec& ObservationSpec::box(std::string_view name, int64_t size, Range range,
                                      bool normalized) {
    return add({std::string(name), FieldKind::kBox, size, range, normalized, {}});
}
ObservationSpec& ObservationSpec::binary(std::string_view name) {
    return box(name, 1, {-1, 1}, false);
}
ObservationSpec& ObservationSpec::discrete(std::string_view name, int64_t n) {
    return add({std::string(name), FieldKind::kDiscrete, n, {}, false, {}});
}
ObservationSpec& ObservationSpec::position(std::string_view name, int64_t dims, double scale) {
    return add({std::string(name), FieldKind::kPosition, dims, {-scale, scale}, true, {}});
}
ObservationSpec& ObservationSpec::unit_vector(std::string_view name, int64_t dims) {
    return add({std::string(name), FieldKind::kUnitVector, dims, {}, false, {}});
}
ObservationSpec& ObservationSpec::angle(std::string_view name) {
    return add({std::string(name), FieldKind::kAngle, 1, {}, false, {}});
}
ObservationSpec& ObservationSpec::quaternion(std::string_view name) {
    return add({std::string(name), FieldKind::kQuaternion, 4, {}, false, {}});
}
ObservationSpec& ObservationSpec::dict(std::string_view name, const ObservationSpec& fields) {
    return add({std::string(name), FieldKind::kDict, 1, {}, false, {}}, &fields);
}
ObservationSpec& ObservationSpec::array(std::string_view name, int64_t count,
                                        const ObservationSpec& fields) {
    return add({std::string(name), FieldKind::kArray, count, {}, false, {}}, &fields);
}
ObservationSpec& ObservationSpec::entities(std::string_view name, int64_t max_count,
                                           const ObservationSpec& fields) {
    return add({std::string(name), FieldKind::kEntities, max_count, {}, false, {}}, &fields);
}

int64_t ObservationSpec::raw_size() const {
    return raw_width_of(list_);
}
int64_t ObservationSpec::encoded_size() const {
    return encoded_width_of(list_);
}

ActionSpec& ActionSpec::add(Action action) {
    Status status = check_name(action.name);
    if (status.ok()) status = check_unique(list_, action.name);
    if (status.ok()) status = check_count(action.name, action.count, action.is_discrete ? 2 : 1);
    if (status.ok()) status = check_range(action.name, action.range);
    if (status.ok()) list_.push_back(std::move(action));
    if (status_.ok()) status_ = std::move(status);
    return *this;
}

ActionSpec& ActionSpec::discrete(std::string_view name, int64_t count, bool masked) {
    return add({std::string(name), true, count, {}, masked});
}
ActionSpec& ActionSpec::continuous(std::string_view name, int64_t size, Range range) {
    return add({std::string(name), false, size, range, false});
}

AgentSpec::AgentSpec(ObservationSpec observations, ActionSpec actions, int64_t frame_stack)
    : observations_(std::move(observations)),
      actions_(std::move(actions)),
      frame_stack_(frame_stack) {
    if (!observations_.status().ok())
        status_ = observations_.status();
    else if (!actions_.status().ok())
        status_ = actions_.status();
    else if (observations_.list().empty())
        status_ = invalid_argument(
            "schema: there are no observations; add at least one to ObservationSpec");
    else if (actions_.list().empty())
        status_ = invalid_argument("schema: there are no actions; add at least one to ActionSpec");
    else if (frame_stack < 1 || limited_product(frame_stack, frame_size()) > kMostFloats)
        status_ = invalid_argument("schema: " + std::to_string(frame_stack) + " observations of " +
                                   std::to_string(frame_size()) +
                                   " floats; expected 1 or more, at most " +
                                   std::to_string(kMostFloats) + " floats in all");
    else if (action_size() + mask_size() > kMostFloats)
        status_ = invalid_argument("schema: actions and masks have " +
                                   std::to_string(action_size() + mask_size()) +
                                   " floats; expected at most " + std::to_string(kMostFloats));
}

int64_t AgentSpec::action_size() const {
    int64_t width = 0;
    for (const Action& a : actions()) width += a.is_discrete ? 1 : a.count;
    return width;
}

int64_t AgentSpec::mask_size() const {
    int64_t width = 0;
    for (const Action& a : actions()) width += a.masked ? a.count : 0;
    return width;
}

bool AgentSpec::has_discrete() const {
    return std::ranges::any_of(actions(), &Action::is_discrete);
}
bool AgentSpec::has_continuous() const {
    return std::ranges::any_of(actions(), [](const Action& a) { return !a.is_discrete; });
}

Result<AgentSpec::FieldRange> AgentSpec::find(std::string_view path) const {
    const std::vector<Field>* list = &observations();
    int64_t begin = 0;
    for (std::string_view rest = path;;) {
        const size_t slash = rest.find('/');
        const std::string_view name = rest.substr(0, slash);
        const Field* found = nullptr;
        for (const Field& f : *list) {
            if (f.name == name) {
                found = &f;
                break;
            }
            begin += f.raw_size();
        }
        if (found == nullptr)
            return not_found("no observation '" + std::string(path) + "'; there " +
                             (list->size() == 1 ? "is " : "are ") + names_of(*list));
        if (slash == std::string_view::npos) return FieldRange{begin, found->raw_size()};
        if (!has_parts(found->kind))
            return not_found("no observation '" + std::string(path) + "'; '" + found->name +
                             "' has no elements of its own");
        begin += found->kind == FieldKind::kEntities ? 1 : 0;
        list = &found->fields;
        rest = rest.substr(slash + 1);
    }
}

std::string AgentSpec::observation_name(int64_t index) const {
    if (index < 0 || index >= observation_size()) return "?";
    const int64_t back = index / frame_size();
    const std::string name = name_in(observations(), index % frame_size());
    return back == 0 ? name : name + " (" + std::to_string(back) + " back)";
}

std::string AgentSpec::action_name(int64_t index) const {
    for (const Action& a : actions()) {
        const int64_t width = a.is_discrete ? 1 : a.count;
        if (index < width) return width == 1 ? a.name : a.name + "[" + std::to_string(index) + "]";
        index -= width;
    }
    return "?";
}

uint64_t AgentSpec::hash() const {
    return Hash().bytes(save()).value();
}

std::string AgentSpec::diff(const AgentSpec& there) const {
    if (frame_stack_ != there.frame_stack_)
        return differs("observations", "stack", std::to_string(frame_stack_),
                       std::to_string(there.frame_stack_));
    std::string text = difference_of_lists("observations", observations(), there.observations());
    return text.empty() ? difference_of_lists("actions", actions(), there.actions()) : text;
}

std::vector<std::byte> AgentSpec::save() const {
    ByteWriter out;
    out.number(kMagic).number(kVersion).number(frame_stack_);
    write(out, observations());
    out.number(static_cast<uint32_t>(actions().size()));
    for (const Action& a : actions()) {
        out.counted_text(a.name).number(static_cast<uint8_t>(a.is_discrete)).number(a.count);
        write(out, a.range);
        out.number(static_cast<uint8_t>(a.masked));
    }
    return out.finish();
}

Result<AgentSpec> AgentSpec::load(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    if (in.number<uint32_t>() != kMagic)
        return corrupt_data("not a specification of agents; expected the bytes of AgentSpec::save");
    if (const auto version = in.number<uint32_t>(); version != kVersion)
        return unsupported("specification of agents: version " + std::to_string(version) +
                           "; this library reads version " + std::to_string(kVersion));
    const auto stack = in.number<int64_t>();
    ObservationSpec observations = read_fields(in, 0);
    ActionSpec actions;
    const uint32_t count = in.count(30);
    for (uint32_t i = 0; i < count && !in.failed() && actions.status().ok(); ++i) {
        const std::string name(in.counted_text());
        const bool is_choice = in.number<uint8_t>() != 0;
        const auto size = in.number<int64_t>();
        const Range range = read_range(in);
        const bool masked = in.number<uint8_t>() != 0;
        if (is_choice)
            actions.discrete(name, size, masked);
        else
            actions.continuous(name, size, range);
    }
    if (in.failed() || in.left() > 0)
        return corrupt_data("specification of agents: its bytes end " +
                            std::string(in.failed() ? "early" : "late"));
    AgentSpec schema(std::move(observations), std::move(actions), stack);
    if (!schema.status().ok()) return corrupt_data(schema.status().message());
    return schema;
}

}  // namespace hearth::agents
