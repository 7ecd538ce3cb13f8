// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Observations and actions of an agent as plain data.  The schema determines buffer sizes, names
// each value in messages, and is hashed into brains, so that a brain of another game is rejected by
// field.
//
//     const AgentSpec spec(
//         ObservationSpec()
//             .box("speed", 1, {0, 30})
//             .box("rays", 8)
//             .entities("enemies", 6, ObservationSpec().position("place", 2, 50).binary("armed")),
//         ActionSpec().discrete("move", 4).continuous("aim", 2));
//
// Games pass observations as raw floats in this order: Hearth scales, encodes and normalizes them.
// Needs no compiler and no tensors.

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::agents {

/// Expected range of a value, which is mapped to [-1, 1].  Values outside are not clamped here.
struct Range {
    double low = -1, high = 1;
    friend bool operator==(const Range&, const Range&) = default;
};

/// Type of an observation field.
enum class FieldKind : uint8_t {
    kBox,         ///< `count` continuous values in a range
    kDiscrete,    ///< an index, 0 to `count` - 1; outside: none of them
    kPosition,    ///< `count` coordinates, divided by a scale
    kUnitVector,  ///< `count` values, normalized to length 1; zero stays zero
    kAngle,       ///< radians, encoded as sine and cosine
    kQuaternion,  ///< quaternion x, y, z, w, encoded as 6D rotation (Zhou et al., 2019)
    kDict,        ///< named fields that belong together
    kArray,       ///< `count` repetitions of the same fields
    kEntities,    ///< up to `count` entities in any order: their number, then all `count` entities
};

class ObservationSpec;

/// An observation field.
struct Field {
    std::string name = {};
    FieldKind kind = FieldKind::kBox;
    int64_t count = 1;
    Range range = {};        ///< of a box; of a position: {-scale, scale}
    bool normalized = true;  ///< takes part in running normalization, if the learner uses it
    std::vector<Field> fields = {};  ///< of a dict, an array or entities

    int64_t raw_size() const;  ///< floats that the game passes
    /// Floats of the network input; 0 for entities, which are pooled.
    int64_t encoded_size() const;
    friend bool operator==(const Field&, const Field&) = default;
};

/// A list of named fields.  Names are unique in their list, 1 to 64 printable characters except
/// '/', '[' and ']'.  The first error is kept, and reported by whatever uses the list.
class ObservationSpec {
  public:
    /// `size` continuous values, each with the range `range`; see Range.
    ObservationSpec& box(std::string_view name, int64_t size = 1, Range range = {},
                         bool normalized = true);
    /// A binary value, 0 or 1; not normalized.
    ObservationSpec& binary(std::string_view name);
    /// A discrete value, passed as its index; encoded one-hot.
    ObservationSpec& discrete(std::string_view name, int64_t n);
    /// Coordinates of a position, divided by `scale`.
    ObservationSpec& position(std::string_view name, int64_t dims, double scale);
    /// A vector of which only the direction matters; encoded as a unit vector.
    ObservationSpec& unit_vector(std::string_view name, int64_t dims);
    /// An angle in radians; encoded as sine and cosine.
    ObservationSpec& angle(std::string_view name);
    /// A rotation as a quaternion x, y, z, w.
    ObservationSpec& quaternion(std::string_view name);
    /// Fields with a common path prefix.
    ObservationSpec& dict(std::string_view name, const ObservationSpec& fields);
    /// A fixed number of repetitions of the same fields, in order.
    ObservationSpec& array(std::string_view name, int64_t count, const ObservationSpec& fields);
    /// Up to `max_count` entities.  Passed as their number (a float), then `max_count` times the
    /// fields, of which those beyond the number are ignored.
    ObservationSpec& entities(std::string_view name, int64_t max_count,
                              const ObservationSpec& fields);

    const std::vector<Field>& list() const { return list_; }
    const Status& status() const { return status_; }
    int64_t raw_size() const;
    int64_t encoded_size() const;

  private:
    ObservationSpec& add(Field field, const ObservationSpec* fields = nullptr);
    std::vector<Field> list_;
    Status status_;
};

/// A discrete or continuous action.
struct Action {
    std::string name = {};
    bool is_discrete = false;
    int64_t count = 1;    ///< options of a discrete action, or continuous values
    Range range = {};     ///< of continuous values, which are clamped to it
    bool masked = false;  ///< the game specifies the available options each frame
    friend bool operator==(const Action&, const Action&) = default;
};

/// Actions of an agent: any number of discrete and continuous ones.  An action vector holds floats
/// in this order: the index of a discrete action, the values of a continuous one.
class ActionSpec {
  public:
    /// A discrete action with `count` options.
    ActionSpec& discrete(std::string_view name, int64_t count, bool masked = false);
    /// A continuous action of `size` values in `range`.
    ActionSpec& continuous(std::string_view name, int64_t size = 1, Range range = {});

    const std::vector<Action>& list() const { return list_; }
    const Status& status() const { return status_; }

  private:
    ActionSpec& add(Action action);
    std::vector<Action> list_;
    Status status_;
};

/// The observation and action spec of an agent.
class AgentSpec {
  public:
    AgentSpec() = default;
    /// frame_stack  the network's input is this many last observations, newest first
    AgentSpec(ObservationSpec observations, ActionSpec actions, int64_t frame_stack = 1);

    /// Ok, or the first error of the lists: no fields, no actions, a duplicate name, a size that is
    /// not positive, an empty or non-finite range, more than 65,536 floats.
    const Status& status() const { return status_; }

    const std::vector<Field>& observations() const { return observations_.list(); }
    const std::vector<Action>& actions() const { return actions_.list(); }
    int64_t frame_stack() const { return frame_stack_; }

    int64_t frame_size() const { return observations_.raw_size(); }  ///< floats of one observation
    /// Floats with frame stacking.
    int64_t observation_size() const { return frame_stack_ * frame_size(); }
    int64_t action_size() const;  ///< floats of an action
    /// Floats of the masks of all maskable actions, in order: 1 where an option is available.
    int64_t mask_size() const;
    bool has_discrete() const;
    bool has_continuous() const;

    /// Offset and size, in floats, of a field in an observation, found by path ("enemies/place");
    /// within an array or entities, those in the first element.
    /// Errors: kNotFound, listing the existing fields.
    struct FieldRange {
        int64_t offset = 0, size = 0;
    };
    Result<FieldRange> find(std::string_view path) const;
    /// Name of float `index` of an observation, such as "enemies[2]/place.x".
    std::string observation_name(int64_t index) const;
    std::string action_name(int64_t index) const;

    /// Equal for equal schemas on every platform; includes names.
    uint64_t hash() const;
    /// Empty if equal; otherwise the first difference, with the path of the field.
    std::string diff(const AgentSpec& there) const;

    std::vector<std::byte> save() const;
    /// Errors: kCorruptData, or kUnsupported for a later version.
    static Result<AgentSpec> load(std::span<const std::byte> bytes);

  private:
    ObservationSpec observations_;
    ActionSpec actions_;
    int64_t frame_stack_ = 1;
    Status status_;
};

}  // namespace hearth::agents
