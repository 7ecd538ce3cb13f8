// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What an agent senses and what it can do, as plain data: it sizes buffers, names each number in
// messages, and is hashed into brains, so that a brain of another game is refused by field.
//
//     const AgentSchema schema(Fields()
//                                  .numbers("speed", 1, {0, 30})
//                                  .numbers("rays", 8)
//                                  .set("enemies", 6, Fields().location("place", 2, 50).flag("armed")),
//                              Actions().choose("move", 4).drive("aim", 2));
//
// Observations are given as floats in this order, raw: Hearth scales, encodes and normalizes them.
// Part of the small library: no compiler, no tensors.

#pragma once

#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::agents {

/// What a number is expected to lie in; it becomes [-1, 1].  Values outside are not cut off here.
struct Range {
    double low = -1, high = 1;
    friend bool operator==(const Range&, const Range&) = default;
};

enum class FieldKind : uint8_t {
    kNumbers,    ///< `count` numbers in a range
    kOneHot,     ///< the index of one of `count` things; outside: none of them
    kLocation,   ///< `count` coordinates, divided by a scale
    kDirection,  ///< `count` numbers, made a vector of length one; zero stays zero
    kAngle,      ///< radians, seen as sine and cosine
    kRotation,   ///< quaternion x, y, z, w, seen as two columns of its matrix (Zhou et al., 2019)
    kGroup,      ///< fields that belong together
    kArray,      ///< `count` times the same group
    kSet,        ///< up to `count` of a group, in no order: how many, then all places
};

class Fields;

struct Field {
    std::string name;
    FieldKind kind = FieldKind::kNumbers;
    int64_t count = 1;
    Range range;               ///< of numbers; of a location {-scale, scale}
    bool normalized = true;    ///< takes part in running normalization, where a learner has it
    std::vector<Field> parts;  ///< of a group, an array or a set

    int64_t raw_width() const;      ///< floats that the game gives
    int64_t encoded_width() const;  ///< floats that a network sees; 0 for a set: it is pooled
    friend bool operator==(const Field&, const Field&) = default;
};

/// A list of named fields.  Names are unique in their list, 1 to 64 printable characters, without
/// '/', '[' and ']'.  The first error stays, and whatever takes the list reports it.
class Fields {
  public:
    Fields& numbers(std::string_view name, int64_t width = 1, Range range = {},
                    bool normalized = true);
    /// A number that is 0 or 1; not normalized.
    Fields& flag(std::string_view name);
    Fields& one_hot(std::string_view name, int64_t options);
    Fields& location(std::string_view name, int64_t axes, double scale);
    Fields& direction(std::string_view name, int64_t axes);
    Fields& angle(std::string_view name);
    Fields& rotation(std::string_view name);
    Fields& group(std::string_view name, const Fields& parts);
    Fields& array(std::string_view name, int64_t count, const Fields& parts);
    /// At most `capacity` of something.  Given as how many there are (a float), then `capacity`
    /// times the parts, of which those behind the last are not looked at.
    Fields& set(std::string_view name, int64_t capacity, const Fields& parts);

    const std::vector<Field>& list() const { return list_; }
    const Status& status() const { return status_; }
    int64_t raw_width() const;
    int64_t encoded_width() const;

  private:
    Fields& add(Field field, const Fields* parts = nullptr);
    std::vector<Field> list_;
    Status status_;
};

struct Action {
    std::string name;
    bool is_choice = false;
    int64_t count = 1;    ///< choices, or numbers
    Range range;          ///< of numbers: what the game gets, never anything outside
    bool masked = false;  ///< the game says in each frame which choices there are
    friend bool operator==(const Action&, const Action&) = default;
};

/// What an agent decides: several choices, numbers, or both.  An action is floats in this order: for
/// a choice its index, for numbers themselves.
class Actions {
  public:
    Actions& choose(std::string_view name, int64_t count, bool masked = false);
    Actions& drive(std::string_view name, int64_t width = 1, Range range = {});

    const std::vector<Action>& list() const { return list_; }
    const Status& status() const { return status_; }

  private:
    Actions& add(Action action);
    std::vector<Action> list_;
    Status status_;
};

class AgentSchema {
  public:
    AgentSchema() = default;
    /// stack  a network sees the last so many observations of its agent, the newest first.
    AgentSchema(Fields observations, Actions actions, int64_t stack = 1);

    /// Ok, or the first error of the lists: no fields, no actions, a name twice, a size that is not
    /// positive, a range that is empty or not finite, more than 65,536 floats.
    const Status& status() const { return status_; }

    const std::vector<Field>& observations() const { return observations_.list(); }
    const std::vector<Action>& actions() const { return actions_.list(); }
    int64_t stack() const { return stack_; }

    int64_t frame_width() const {
        return observations_.raw_width();
    }  ///< floats of one observation
    int64_t observation_width() const { return stack_ * frame_width(); }  ///< with the stack
    int64_t action_width() const;                                         ///< floats of an action
    /// Floats of the masks of all choices that have one, in order: 1 where a choice is there.
    int64_t mask_width() const;
    bool has_choices() const;
    bool has_numbers() const;

    /// Where a field, named by its path ("enemies/place"), begins in an observation, and how many
    /// floats it has there: of an array or set, of its first element.  Errors: kNotFound, listing
    /// what there is.
    struct Place {
        int64_t begin = 0, width = 0;
    };
    Result<Place> find(std::string_view path) const;
    /// What float `index` of an observation is: "enemies[2]/place.x".
    std::string name_of_observation(int64_t index) const;
    std::string name_of_action(int64_t index) const;

    /// Equal for equal schemas on every platform; names count.
    uint64_t hash() const;
    /// Nothing if equal; otherwise what differs first, by field: "observations/rays: width 8 here, 9
    /// there".
    std::string difference(const AgentSchema& there) const;

    std::vector<std::byte> save() const;
    /// Errors: kCorruptData, or kUnsupported for a later version.
    static Result<AgentSchema> load(std::span<const std::byte> bytes);

  private:
    Fields observations_;
    Actions actions_;
    int64_t stack_ = 1;
    Status status_;
};

}  // namespace hearth::agents
