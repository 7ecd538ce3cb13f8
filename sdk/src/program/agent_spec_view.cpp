// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Checks and reads saved agent specs: sizes, names and differences.

#include "program/agent_spec_view.hpp"

#include <hearth/core/hash.hpp>

#include <algorithm>
#include <cmath>

namespace hearth::agents {

namespace {

constexpr int kMaxDepth = 8;

int length_of(std::string_view text) {
    return static_cast<int>(std::min<size_t>(text.size(), 100));
}

// Arguments of "%.*s".
#define HEARTH_SHOWN(text) length_of(text), (text).data()

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

Range read_range(ByteReader& in) {
    Range range;
    range.low = in.number<double>();
    range.high = in.number<double>();
    return range;
}

constexpr uint64_t kSmallestItem = 30;  // bytes of the shortest saved field or action

void fail(ByteReader& in) {
    in.seek(~uint64_t{0});
}

/// Reads a field without checking its values.  level bounds the recursion.
void read(ByteReader& in, FieldView& f, std::span<const std::byte> all, int level) {
    f = {};
    f.name = in.counted_text();
    f.kind = static_cast<FieldKind>(in.number<uint8_t>());
    f.count = in.number<int64_t>();
    f.range = read_range(in);
    f.normalized = in.number<uint8_t>() != 0;
    f.has_entities = f.kind == FieldKind::kEntities;
    if (f.kind > FieldKind::kEntities || level > kMaxDepth) fail(in);
    int64_t fields_size = 0;
    if (has_fields(f.kind) && !in.failed()) {
        const uint64_t begin = in.position();
        const uint32_t count = in.count(kSmallestItem);
        for (uint32_t i = 0; i < count && !in.failed(); ++i) {
            FieldView inner;
            read(in, inner, all, level + 1);
            fields_size = limited_sum(fields_size, std::max<int64_t>(inner.raw_size, 0));
            f.depth = std::max(f.depth, inner.depth + 1);
            f.has_entities = f.has_entities || inner.has_entities;
        }
        if (!in.failed()) f.fields = all.subspan(begin, in.position() - begin);
    }
    f.raw_size = raw_field_size(f.kind, f.count, fields_size);
}

void read(ByteReader& in, ActionView& a, std::span<const std::byte>, int) {
    a = {};
    a.name = in.counted_text();
    a.is_discrete = in.number<uint8_t>() != 0;
    a.count = in.number<int64_t>();
    a.range = read_range(in);
    a.masked = in.number<uint8_t>() != 0;
}

bool check_name(std::string_view name, SpecText& error) {
    const bool is_sound =
        !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
            return c >= ' ' && c != 0x7f && c != '/' && c != '[' && c != ']';
        });
    if (is_sound) return true;
    error.set(
        "schema: '%.*s' is not a valid name; expected 1 to 64 printable characters without '/', "
        "'[' and ']'",
        HEARTH_SHOWN(name));
    return false;
}

bool check_range(std::string_view name, const Range& range, SpecText& error) {
    if (std::isfinite(range.low) && std::isfinite(range.high) && range.low < range.high)
        return true;
    error.set("schema: range of '%.*s' is [%f, %f]; expected finite numbers, low < high",
              HEARTH_SHOWN(name), range.low, range.high);
    return false;
}

bool check_count(std::string_view name, int64_t count, int64_t least, SpecText& error) {
    if (count >= least && count <= kMaxSpecFloats) return true;
    error.set("schema: '%.*s' has a size of %lld; expected %lld to %lld", HEARTH_SHOWN(name),
              static_cast<long long>(count), static_cast<long long>(least),
              static_cast<long long>(kMaxSpecFloats));
    return false;
}

/// Checks all items of a list, and that their names differ.  count: fields seen so far.
template <class T, class Check>
bool check_list(std::span<const std::byte> bytes, int64_t& count, SpecText& error, Check check) {
    SavedList<T> list(bytes);
    T item;
    for (int64_t i = 0; list.next(item); ++i) {
        if (++count > kMaxSpecFields) {
            error.set("schema: more than %lld fields; use wider fields",
                      static_cast<long long>(kMaxSpecFields));
            return false;
        }
        if (!check(item)) return false;
        SavedList<T> earlier(bytes);
        T other;
        for (int64_t k = 0; k < i && earlier.next(other); ++k)
            if (other.name == item.name) {
                error.set("schema: '%.*s' is there twice", HEARTH_SHOWN(item.name));
                return false;
            }
    }
    return true;
}

bool check_fields(std::span<const std::byte> bytes, int64_t& count, SpecText& error) {
    return check_list<FieldView>(bytes, count, error, [&](const FieldView& f) {
        return check_field(f, error) && (f.fields.empty() || check_fields(f.fields, count, error));
    });
}

int64_t size_of_fields(std::span<const std::byte> bytes) {
    int64_t size = 0;
    FieldView f;
    for (FieldList list(bytes); list.next(f);) size = limited_sum(size, f.raw_size);
    return size;
}

void append_axis(int64_t axis, int64_t axes, SpecText& out) {
    if (axes <= 4)
        out.append(".%c", "xyzw"[axis]);
    else
        out.append("[%lld]", static_cast<long long>(axis));
}

/// Appends the path of a raw observation float: "speed", "rays[3]", "enemies[2]/place.x",
/// "enemies (how many)".
void append_name(std::span<const std::byte> bytes, int64_t index, SpecText& out) {
    FieldList list(bytes);
    FieldView f;
    while (list.next(f) && index >= f.raw_size) index -= f.raw_size;
    out.append("%.*s", HEARTH_SHOWN(f.name));
    switch (f.kind) {
        case FieldKind::kBox:
            if (f.count != 1) out.append("[%lld]", static_cast<long long>(index));
            return;
        case FieldKind::kDiscrete:
        case FieldKind::kAngle:
            return;
        case FieldKind::kPosition:
        case FieldKind::kUnitVector:
            return append_axis(index, f.count, out);
        case FieldKind::kQuaternion:
            return append_axis(index, 4, out);
        case FieldKind::kDict:
            out.append("/");
            return append_name(f.fields, index, out);
        case FieldKind::kEntities:
            if (index == 0) return out.append(" (how many)");
            --index;
            [[fallthrough]];
        case FieldKind::kArray: {
            const int64_t size = size_of_fields(f.fields);
            out.append("[%lld]/", static_cast<long long>(index / size));
            return append_name(f.fields, index % size, out);
        }
    }
}

template <class T>
void append_names(std::span<const std::byte> bytes, SpecText& out) {
    T item;
    const char* separator = "";
    for (SavedList<T> list(bytes); list.next(item); separator = ", ")
        out.append("%s'%.*s'", separator, HEARTH_SHOWN(item.name));
}

// --- Differences ---

/// The path of the lists that lead to the current one.
struct Path {
    const Path* parent;
    std::string_view name;
    void append(SpecText& out) const {
        if (parent != nullptr) {
            parent->append(out);
            out.append("/");
        }
        out.append("%.*s", HEARTH_SHOWN(name));
    }
};

void tell(const Path& path, const char* what, std::string_view here, std::string_view there,
          SpecText& text) {
    text.clear();
    path.append(text);
    text.append(": %s%s%.*s here, %.*s there", what, *what == '\0' ? "" : " ", HEARTH_SHOWN(here),
                HEARTH_SHOWN(there));
}

FixedText<64> text_of(int64_t value) {
    FixedText<64> text;
    text.set("%lld", static_cast<long long>(value));
    return text;
}

void append_number(double value, FixedText<64>& out) {
    char text[400];  // the longest double has 309 digits before its point
    std::snprintf(text, sizeof text, "%f", value);
    size_t size = std::strlen(text);
    while (text[size - 1] == '0') --size;
    if (text[size - 1] == '.') --size;
    out.append("%.*s", static_cast<int>(size), text);
}
FixedText<64> text_of(const Range& r) {
    FixedText<64> text;
    text.append("[");
    append_number(r.low, text);
    text.append(", ");
    append_number(r.high, text);
    text.append("]");
    return text;
}

bool differ(const Path& path, const ActionView& a, const ActionView& b, SpecText& text) {
    const auto kind = [](const ActionView& x) { return x.is_discrete ? "a choice" : "numbers"; };
    const auto masked = [](const ActionView& x) { return x.masked ? "masked" : "not masked"; };
    if (a.is_discrete != b.is_discrete)
        tell(path, "", kind(a), kind(b), text);
    else if (a.count != b.count)
        tell(path, a.is_discrete ? "choices" : "width", text_of(a.count).c_str(),
             text_of(b.count).c_str(), text);
    else if (!(a.range == b.range))
        tell(path, "range", text_of(a.range).c_str(), text_of(b.range).c_str(), text);
    else if (a.masked != b.masked)
        tell(path, "", masked(a), masked(b), text);
    return !text.empty();
}

template <class T>
bool lists_differ(const Path& path, std::span<const std::byte> here,
                  std::span<const std::byte> there, SpecText& text);

bool differ(const Path& path, const FieldView& a, const FieldView& b, SpecText& text) {
    const auto normalized = [](const FieldView& x) {
        return x.normalized ? "normalized" : "not normalized";
    };
    const char* const count = a.kind == FieldKind::kBox        ? "width"
                              : a.kind == FieldKind::kDiscrete ? "options"
                              : has_fields(a.kind)             ? "elements"
                                                               : "axes";
    if (a.kind != b.kind)
        tell(path, "", name_of(a.kind), name_of(b.kind), text);
    else if (a.count != b.count)
        tell(path, count, text_of(a.count).c_str(), text_of(b.count).c_str(), text);
    else if (!(a.range == b.range))
        tell(path, "range", text_of(a.range).c_str(), text_of(b.range).c_str(), text);
    else if (a.normalized != b.normalized)
        tell(path, "", normalized(a), normalized(b), text);
    else if (has_fields(a.kind))
        return lists_differ<FieldView>(path, a.fields, b.fields, text);
    return !text.empty();
}

template <class T>
bool contains(std::span<const std::byte> bytes, std::string_view name) {
    T item;
    for (SavedList<T> list(bytes); list.next(item);)
        if (item.name == name) return true;
    return false;
}

// Names the first item that differs in name or order, rather than the sizes of the lists.
template <class T>
bool lists_differ(const Path& path, std::span<const std::byte> here,
                  std::span<const std::byte> there, SpecText& text) {
    const auto only = [&](const T& item, const char* where) {
        Path{&path, item.name}.append(text);
        text.append(": only %s", where);
        return true;
    };
    SavedList<T> ours(here), theirs(there);
    for (int64_t i = 0;; ++i) {
        T a, b;
        const bool has_a = ours.next(a), has_b = theirs.next(b);
        if (has_a && !contains<T>(there, a.name)) return only(a, "here");
        if (has_b && !contains<T>(here, b.name)) return only(b, "there");
        if (!has_a || !has_b) return false;
        if (a.name != b.name) {
            path.append(text);
            text.append(": at place %lld '%.*s' here, '%.*s' there", static_cast<long long>(i),
                        HEARTH_SHOWN(a.name), HEARTH_SHOWN(b.name));
            return true;
        }
        if (differ(Path{&path, a.name}, a, b, text)) return true;
    }
}

}  // namespace

int64_t raw_field_size(FieldKind kind, int64_t count, int64_t fields_size) {
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
            return fields_size;
        case FieldKind::kArray:
            return limited_product(count, fields_size);
        case FieldKind::kEntities:
            return limited_sum(1, limited_product(count, fields_size));
    }
    return 0;
}

bool has_fields(FieldKind kind) {
    return kind == FieldKind::kDict || kind == FieldKind::kArray || kind == FieldKind::kEntities;
}

template <class T>
SavedList<T>::SavedList(std::span<const std::byte> bytes)
    : bytes_(bytes), in_(bytes), left_(in_.count(kSmallestItem)) {}

template <class T>
bool SavedList<T>::next(T& item) {
    if (left_ == 0 || in_.failed()) return false;
    --left_;
    read(in_, item, bytes_, 0);
    return !in_.failed();
}

template class SavedList<FieldView>;
template class SavedList<ActionView>;

bool check_field(const FieldView& f, SpecText& error) {
    const bool is_vector = f.kind == FieldKind::kUnitVector;
    if (!check_name(f.name, error) || !check_count(f.name, f.count, is_vector ? 2 : 1, error) ||
        !check_range(f.name, f.range, error))
        return false;
    if (has_fields(f.kind)) {
        const char* problem = nullptr;
        FieldView inner;
        bool holds_entities = false;
        FieldList list(f.fields);
        if (!list.next(inner))
            problem = "has no fields; add at least one";
        else if (f.depth > kMaxDepth)
            problem = "is nested too deeply; flatten its groups";
        for (FieldList again(f.fields); again.next(inner);)
            holds_entities = holds_entities || inner.has_entities;
        if (problem == nullptr && f.kind != FieldKind::kDict && holds_entities)
            problem =
                "contains a set of entities, which only groups may; move it to the top level or "
                "into a group";
        if (problem != nullptr) {
            error.set("schema: '%.*s' %s", HEARTH_SHOWN(f.name), problem);
            return false;
        }
    }
    return check_count(f.name, f.raw_size, 1, error);
}

bool check_action(const ActionView& a, SpecText& error) {
    return check_name(a.name, error) &&
           check_count(a.name, a.count, a.is_discrete ? 2 : 1, error) &&
           check_range(a.name, a.range, error);
}

StatusCode AgentSpecView::open(std::span<const std::byte> bytes, SpecText& error) {
    ByteReader in(bytes);
    if (in.number<uint32_t>() != kAgentSpecMagic) {
        error.set("not a specification of agents; expected the bytes of AgentSpec::save");
        return StatusCode::kCorruptData;
    }
    if (const auto version = in.number<uint32_t>(); version != kAgentSpecVersion) {
        error.set("specification of agents: version %u; this library reads version %u", version,
                  kAgentSpecVersion);
        return StatusCode::kUnsupported;
    }
    bytes_ = bytes;
    frame_stack_ = in.number<int64_t>();
    const auto rest = [&] { return bytes.subspan(in.failed() ? bytes.size() : in.position()); };

    FieldList fields(rest());
    frame_size_ = 0;
    for (FieldView f; fields.next(f);) frame_size_ = limited_sum(frame_size_, f.raw_size);
    observations_ = rest().first(fields.failed() ? 0 : fields.position());
    in.seek(in.position() + fields.position());
    ActionList list(rest());
    action_size_ = mask_size_ = 0;
    for (ActionView a; list.next(a);) {
        const auto count = std::clamp<int64_t>(a.count, 0, kMaxSpecFloats + 1);
        action_size_ = limited_sum(action_size_, a.is_discrete ? 1 : count);
        mask_size_ = limited_sum(mask_size_, a.masked ? count : 0);
    }
    actions_ = rest().first(list.failed() ? 0 : list.position());
    const uint64_t end = in.position() + list.position();
    if (in.failed() || fields.failed() || list.failed() || end != bytes.size()) {
        error.set("specification of agents: its bytes end %s",
                  !in.failed() && !fields.failed() && !list.failed() ? "late" : "early");
        return StatusCode::kCorruptData;
    }

    int64_t count = 0;
    if (!check_fields(observations_, count, error) ||
        !check_list<ActionView>(actions_, count, error,
                                [&](const ActionView& a) { return check_action(a, error); }))
        return StatusCode::kCorruptData;
    if (frame_size_ == 0)
        error.set("schema: there are no observations; add at least one to ObservationSpec");
    else if (action_size_ == 0)
        error.set("schema: there are no actions; add at least one to ActionSpec");
    else if (frame_stack_ < 1 || limited_product(frame_stack_, frame_size_) > kMaxSpecFloats)
        error.set(
            "schema: %lld observations of %lld floats; expected 1 or more, at most %lld floats in "
            "all",
            static_cast<long long>(frame_stack_), static_cast<long long>(frame_size_),
            static_cast<long long>(kMaxSpecFloats));
    else if (action_size_ + mask_size_ > kMaxSpecFloats)
        error.set("schema: actions and masks have %lld floats; expected at most %lld",
                  static_cast<long long>(action_size_ + mask_size_),
                  static_cast<long long>(kMaxSpecFloats));
    return error.empty() ? StatusCode::kOk : StatusCode::kCorruptData;
}

uint64_t AgentSpecView::hash() const {
    return Hash().bytes(bytes_).value();
}

bool AgentSpecView::find(std::string_view path, AgentSpec::FieldRange& range,
                         SpecText& error) const {
    std::span<const std::byte> fields = observations_;
    int64_t begin = 0;
    for (std::string_view rest = path;;) {
        const size_t slash = rest.find('/');
        const std::string_view name = rest.substr(0, slash);
        FieldList list(fields);
        FieldView f;
        bool is_found = false;
        while (!is_found && list.next(f)) {
            is_found = f.name == name;
            if (!is_found) begin += f.raw_size;
        }
        if (!is_found) {
            error.set("no observation '%.*s'; there are ", HEARTH_SHOWN(path));
            append_names<FieldView>(fields, error);
            return false;
        }
        if (slash == std::string_view::npos) {
            range = {begin, f.raw_size};
            return true;
        }
        if (!has_fields(f.kind)) {
            error.set("no observation '%.*s'; '%.*s' has no elements of its own",
                      HEARTH_SHOWN(path), HEARTH_SHOWN(f.name));
            return false;
        }
        begin += f.kind == FieldKind::kEntities ? 1 : 0;
        fields = f.fields;
        rest.remove_prefix(slash + 1);
    }
}

bool AgentSpecView::find_action(std::string_view name, AgentSpec::FieldRange& range,
                                SpecText& error) const {
    int64_t begin = 0;
    ActionView a;
    for (ActionList list(actions_); list.next(a); begin += a.size())
        if (a.name == name) {
            range = {begin, a.size()};
            return true;
        }
    error.set("no action '%.*s'; there are ", HEARTH_SHOWN(name));
    append_names<ActionView>(actions_, error);
    return false;
}

void AgentSpecView::append_observation_name(int64_t index, SpecText& out) const {
    if (index < 0 || index >= observation_size()) return out.append("?");
    append_name(observations_, index % frame_size_, out);
    if (index >= frame_size_)
        out.append(" (%lld back)", static_cast<long long>(index / frame_size_));
}

void AgentSpecView::append_action_name(int64_t index, SpecText& out) const {
    ActionView a;
    for (ActionList list(actions_); index >= 0 && list.next(a); index -= a.size()) {
        if (index >= a.size()) continue;
        out.append("%.*s", HEARTH_SHOWN(a.name));
        if (a.size() > 1) out.append("[%lld]", static_cast<long long>(index));
        return;
    }
    out.append("?");
}

namespace {

/// Walks the leaves of a list of fields until `left` of them were passed.
class LeafWalk {
  public:
    LeafWalk(uint32_t left, AgentSpecView::Leaf& out) : left_(left), out_(out) {}

    /// True once the leaf is found.  group: copies, stride and count_offset of the fields around it.
    bool walk(std::span<const std::byte> fields, const SpecText& path, int64_t offset,
              const AgentSpecView::Leaf* group) {
        FieldView f;
        for (FieldList list(fields); list.next(f); offset += f.raw_size) {
            SpecText name = path;
            name.append("%s%.*s", path.empty() ? "" : "/", HEARTH_SHOWN(f.name));
            if (!has_fields(f.kind)) {
                if (left_-- > 0) continue;
                if (group != nullptr) out_ = *group;
                out_.name = name;
                out_.kind = f.kind;
                out_.offset = offset;
                out_.size = f.raw_size;
                out_.options = f.kind == FieldKind::kDiscrete ? f.count : 0;
                out_.range = f.range;
                return true;
            }
            if (walk_group(f, name, offset, group)) return true;
        }
        return false;
    }
    uint32_t left() const { return left_; }

  private:
    bool walk_group(const FieldView& f, const SpecText& name, int64_t offset,
                    const AgentSpecView::Leaf* group) {
        if (f.kind == FieldKind::kDict) return walk(f.fields, name, offset, group);
        const int64_t first = offset + (f.kind == FieldKind::kEntities ? 1 : 0);
        const int64_t stride = (f.raw_size - (first - offset)) / std::max<int64_t>(f.count, 1);
        if (group == nullptr) {
            AgentSpecView::Leaf own;
            own.copies = f.count;
            own.stride = stride;
            own.count_offset = f.kind == FieldKind::kEntities ? offset : -1;
            return walk(f.fields, name, first, &own);
        }
        for (int64_t i = 0; i < f.count; ++i) {
            SpecText each = name;
            each.append("[%lld]", static_cast<long long>(i));
            if (walk(f.fields, each, first + i * stride, group)) return true;
        }
        return false;
    }

    uint32_t left_;
    AgentSpecView::Leaf& out_;
};

}  // namespace

bool AgentSpecView::leaf(uint32_t index, Leaf& out) const {
    out = {};
    LeafWalk observations(index, out);
    if (observations.walk(observations_, SpecText(), 0, nullptr)) return true;
    uint32_t left = observations.left();
    int64_t offset = 0, mask_offset = 0;
    ActionView a;
    for (ActionList list(actions_); list.next(a); offset += a.size()) {
        if (left-- == 0) {
            out.name.set("%.*s", HEARTH_SHOWN(a.name));
            out.is_action = true;
            out.is_discrete_action = a.is_discrete;
            out.offset = offset;
            out.size = a.size();
            out.options = a.is_discrete ? a.count : 0;
            out.mask_offset = a.masked ? mask_offset : -1;
            out.range = a.range;
            return true;
        }
        mask_offset += a.masked ? a.count : 0;
    }
    return false;
}

uint32_t AgentSpecView::leaf_count() const {
    Leaf unused;
    LeafWalk observations(UINT32_MAX, unused);
    (void)observations.walk(observations_, SpecText(), 0, nullptr);
    uint32_t count = UINT32_MAX - observations.left();
    ActionView a;
    for (ActionList list(actions_); list.next(a);) ++count;
    return count;
}

void AgentSpecView::diff(const AgentSpecView& there, SpecText& text) const {
    text.clear();
    const Path observations{nullptr, "observations"}, actions{nullptr, "actions"};
    if (frame_stack_ != there.frame_stack_)
        tell(observations, "stack", text_of(frame_stack_).c_str(),
             text_of(there.frame_stack_).c_str(), text);
    else if (!lists_differ<FieldView>(observations, observations_, there.observations_, text))
        (void)lists_differ<ActionView>(actions, actions_, there.actions_, text);
}

#undef HEARTH_SHOWN

}  // namespace hearth::agents
