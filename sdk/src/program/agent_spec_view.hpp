// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads the saved bytes of an AgentSpec in place.  Allocates nothing, so that the runtime needs no
// AgentSpec; AgentSpec itself uses the view for loading, comparing and naming.

#pragma once

#include "core/bytes.hpp"
#include "core/fixed_text.hpp"

#include <hearth/agents/schema.hpp>
#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hearth::agents {

using SpecText = FixedText<1024>;

inline constexpr uint32_t kAgentSpecMagic = 0x31534148;  // "HAS1"
inline constexpr uint32_t kAgentSpecVersion = 1;
inline constexpr int64_t kMaxSpecFloats = 65536;
inline constexpr int64_t kMaxSpecFields = 4096;

/// Saturate above the limit, so that hostile sizes do not overflow.
inline int64_t limited_product(int64_t a, int64_t b) {
    return a != 0 && b > (kMaxSpecFloats + 1) / a ? kMaxSpecFloats + 1 : a * b;
}
inline int64_t limited_sum(int64_t a, int64_t b) {
    return a + b < kMaxSpecFloats + 1 ? a + b : kMaxSpecFloats + 1;
}

/// True for kinds whose fields are listed after them.
bool has_fields(FieldKind kind);

/// Floats of a field.  count: elements; fields_size: floats of one group of the fields below it.
int64_t raw_field_size(FieldKind kind, int64_t count, int64_t fields_size);

/// A saved Field.  Texts and fields refer to the bytes it was read from.
struct FieldView {
    std::string_view name;
    FieldKind kind = FieldKind::kBox;
    int64_t count = 0;
    Range range;
    bool normalized = false;
    std::span<const std::byte> fields;  ///< the saved list of fields
    int64_t raw_size = 0;               ///< saturates above kMaxSpecFloats
    int depth = 1;                      ///< levels of lists, its own included
    bool has_entities = false;          ///< it, or a field below it
};

/// A saved Action.
struct ActionView {
    std::string_view name;
    bool is_discrete = false;
    int64_t count = 0;
    Range range;
    bool masked = false;
    int64_t size() const { return is_discrete ? 1 : count; }  ///< floats
};

/// Reads a saved list of T front to back.
template <class T>
class SavedList {
  public:
    explicit SavedList(std::span<const std::byte> bytes);
    /// Returns false at the end, or where the bytes are no list: see failed().
    bool next(T& item);
    bool failed() const { return in_.failed(); }
    uint64_t position() const { return in_.position(); }

  private:
    std::span<const std::byte> bytes_;
    ByteReader in_;
    uint32_t left_;
};
using FieldList = SavedList<FieldView>;
using ActionList = SavedList<ActionView>;

/// Return false and set `error` if the item breaks a rule of ObservationSpec or ActionSpec.  The
/// fields below a field, and the uniqueness of names, are checked by AgentSpecView::open.
[[nodiscard]] bool check_field(const FieldView& field, SpecText& error);
[[nodiscard]] bool check_action(const ActionView& action, SpecText& error);

class AgentSpecView {
  public:
    /// Checks everything that an AgentSpec promises.  `bytes` must outlive the view.  Returns kOk,
    /// or kCorruptData or kUnsupported with `error` set.
    [[nodiscard]] StatusCode open(std::span<const std::byte> bytes, SpecText& error);

    std::span<const std::byte> bytes() const { return bytes_; }
    std::span<const std::byte> observations() const { return observations_; }
    std::span<const std::byte> actions() const { return actions_; }
    int64_t frame_stack() const { return frame_stack_; }
    int64_t frame_size() const { return frame_size_; }
    int64_t observation_size() const { return frame_stack_ * frame_size_; }
    int64_t action_size() const { return action_size_; }
    int64_t mask_size() const { return mask_size_; }
    uint64_t hash() const;

    /// As AgentSpec::find; returns false and sets `error` if there is no such field.
    [[nodiscard]] bool find(std::string_view path, AgentSpec::FieldRange& range,
                            SpecText& error) const;
    [[nodiscard]] bool find_action(std::string_view name, AgentSpec::FieldRange& range,
                                   SpecText& error) const;
    /// Append the names of single floats; "?" if the index is out of range.
    void append_observation_name(int64_t index, SpecText& out) const;
    void append_action_name(int64_t index, SpecText& out) const;
    /// The leaf fields of an observation, then the actions, as hearth_agents_get_field lists them.
    struct Leaf {
        SpecText name;
        bool is_action = false, is_discrete_action = false;
        FieldKind kind = FieldKind::kBox;
        int64_t offset = 0, size = 0, options = 0, copies = 1, stride = 0;
        int64_t count_offset = -1, mask_offset = -1;  ///< -1: none
        Range range;
    };
    uint32_t leaf_count() const;
    /// Returns false if there are fewer.
    [[nodiscard]] bool leaf(uint32_t index, Leaf& out) const;
    /// Sets `text` to the first difference; empty if equal.
    void diff(const AgentSpecView& there, SpecText& text) const;

  private:
    std::span<const std::byte> bytes_, observations_, actions_;
    int64_t frame_stack_ = 1, frame_size_ = 0, action_size_ = 0, mask_size_ = 0;
};

}  // namespace hearth::agents
