// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds agent specs, and saves and loads them.  Whatever follows from the saved bytes alone is in
// agent_spec_view.cpp.

#include "program/agent_spec_view.hpp"

#include <hearth/core/hash.hpp>

#include <algorithm>
#include <utility>

namespace hearth::agents {

namespace {

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

template <class T>
Status check_unique(const std::vector<T>& list, std::string_view name) {
    for (const T& other : list)
        if (other.name == name)
            return invalid_argument("schema: '" + std::string(name) + "' is there twice");
    return {};
}

// --- Serialization ---

void write(ByteWriter& out, const Range& range) {
    out.number(range.low).number(range.high);
}
void write(ByteWriter& out, const std::vector<Field>& list) {
    out.number(static_cast<uint32_t>(list.size()));
    for (const Field& f : list) {
        out.counted_text(f.name).number(static_cast<uint8_t>(f.kind)).number(f.count);
        write(out, f.range);
        out.number(static_cast<uint8_t>(f.normalized));
        if (has_fields(f.kind)) write(out, f.fields);
    }
}

void write(ByteWriter& out, const std::vector<Action>& list) {
    out.number(static_cast<uint32_t>(list.size()));
    for (const Action& a : list) {
        out.counted_text(a.name).number(static_cast<uint8_t>(a.is_discrete)).number(a.count);
        write(out, a.range);
        out.number(static_cast<uint8_t>(a.masked));
    }
}

/// Checks one item by the rules for saved bytes.
template <class View, class T>
Status check_item(const T& item, bool (*check)(const View&, SpecText&)) {
    ByteWriter out;
    write(out, std::vector<T>{item});
    const std::vector<std::byte> bytes = out.finish();
    SavedList<View> list(bytes);
    View view;
    if (!list.next(view))
        return invalid_argument("schema: '" + item.name +
                                "' is nested too deeply; flatten its groups");
    SpecText error;
    return check(view, error) ? Status() : invalid_argument(error.c_str());
}

ObservationSpec fields_of(std::span<const std::byte> bytes) {
    ObservationSpec out;
    FieldList list(bytes);
    for (FieldView f; list.next(f);) switch (f.kind) {
            case FieldKind::kBox:
                out.box(f.name, f.count, f.range, f.normalized);
                break;
            case FieldKind::kDiscrete:
                out.discrete(f.name, f.count);
                break;
            case FieldKind::kPosition:
                out.position(f.name, f.count, f.range.high);
                break;
            case FieldKind::kUnitVector:
                out.unit_vector(f.name, f.count);
                break;
            case FieldKind::kAngle:
                out.angle(f.name);
                break;
            case FieldKind::kQuaternion:
                out.quaternion(f.name);
                break;
            case FieldKind::kDict:
                out.dict(f.name, fields_of(f.fields));
                break;
            case FieldKind::kArray:
                out.array(f.name, f.count, fields_of(f.fields));
                break;
            case FieldKind::kEntities:
                out.entities(f.name, f.count, fields_of(f.fields));
                break;
        }
    return out;
}

/// A spec's saved bytes and a view of them.
struct SavedSpec {
    explicit SavedSpec(const AgentSpec& spec) : bytes(spec.save()), code(view.open(bytes, text)) {}
    std::vector<std::byte> bytes;
    AgentSpecView view;
    SpecText text;
    StatusCode code;
};

}  // namespace

int64_t Field::raw_size() const {
    return raw_field_size(kind, count, raw_width_of(fields));
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
    Status status = check_unique(list_, field.name);
    if (status.ok() && fields != nullptr) {
        field.fields = fields->list();
        if (!fields->status().ok())
            status = fields->status().with_context("in '" + field.name + "'");
    }
    if (status.ok()) status = check_item<FieldView>(field, check_field);
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
    Status status = check_unique(list_, action.name);
    if (status.ok()) status = check_item<ActionView>(action, check_action);
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
    status_ = observations_.status().ok() ? actions_.status() : observations_.status();
    if (!status_.ok()) return;
    const SavedSpec saved(*this);
    if (saved.code != StatusCode::kOk) status_ = invalid_argument(saved.text.c_str());
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
    SavedSpec saved(*this);
    FieldRange range;
    if (!saved.view.find(path, range, saved.text)) return not_found(saved.text.c_str());
    return range;
}

std::string AgentSpec::observation_name(int64_t index) const {
    SavedSpec saved(*this);
    saved.view.append_observation_name(index, saved.text);
    return saved.text.c_str();
}

std::string AgentSpec::action_name(int64_t index) const {
    SavedSpec saved(*this);
    saved.view.append_action_name(index, saved.text);
    return saved.text.c_str();
}

uint64_t AgentSpec::hash() const {
    return Hash().bytes(save()).value();
}

std::string AgentSpec::diff(const AgentSpec& there) const {
    SavedSpec ours(*this);
    const SavedSpec theirs(there);
    ours.view.diff(theirs.view, ours.text);
    return ours.text.c_str();
}

std::vector<std::byte> AgentSpec::save() const {
    ByteWriter out;
    out.number(kAgentSpecMagic).number(kAgentSpecVersion).number(frame_stack_);
    write(out, observations());
    write(out, actions());
    return out.finish();
}

Result<AgentSpec> AgentSpec::load(std::span<const std::byte> bytes) {
    AgentSpecView view;
    SpecText error;
    if (const StatusCode code = view.open(bytes, error); code != StatusCode::kOk)
        return Status(code, error.c_str());
    ActionSpec actions;
    ActionList list(view.actions());
    for (ActionView a; list.next(a);)
        if (a.is_discrete)
            actions.discrete(a.name, a.count, a.masked);
        else
            actions.continuous(a.name, a.count, a.range);
    AgentSpec schema(fields_of(view.observations()), std::move(actions), view.frame_stack());
    if (!schema.status().ok()) return corrupt_data(schema.status().message());
    return schema;
}

}  // namespace hearth::agents
