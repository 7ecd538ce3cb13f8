// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What the steps of an entry cost on the GPU: learned from timestamps of slices, which arrive some frames later.

#pragma once

#include <hearth/hearth_agents.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace hearth::agents {

/// How far a recording of an entry has come, as hearth_cursor has it: the next step, and how many parts of it are
/// done.
struct Position {
    uint32_t step = 0, part = 0;
    bool is_start() const { return step == 0 && part == 0; }
    friend auto operator<=>(const Position&, const Position&) = default;
};

/// How much one recording may hold, as hearth_record_info has it; 0: no limit.
struct Limits {
    uint32_t dispatches = 0, workgroups = 0;
    bool is_nothing() const { return dispatches == 0 && workgroups == 0; }
};

/// What a frame's slices of learning take together: half of learn_us, all of it, or twice as much.
inline double budget_us(double learn_us, hearth_agents_preference preference) {
    return preference == HEARTH_AGENTS_PREFER_GRAPHICS   ? learn_us / 2
           : preference == HEARTH_AGENTS_PREFER_LEARNING ? learn_us * 2
                                                         : learn_us;
}

/// Each step has a cost of its own, the mean of the others until it was measured.  A slice's time corrects those of
/// its steps by the same factor, so that a slow step is told from fast ones as slices begin and end at different
/// barriers.  Predictions are raised by how much longer than predicted the last 32 slices took, but
/// for the longest of them, fourfold at most.
///
/// What lies between two barriers and is longer than a frame's budget is recorded step by step, and a dispatch that is
/// longer in pieces: two, then four, as long as that helps.  A GPU that runs all its workgroups at once takes as long
/// for half of them, so whether it helps is measured.
class CostMeter {
  public:
    struct Step {
        bool is_barrier = false, is_known = false;
        double us = 0;            ///< of all its parts
        uint32_t part_count = 1;  ///< hearth_step_info
        uint64_t workgroups = 0;
        uint32_t pieces = 1;      ///< that it is recorded in where it is longer than the budget
        bool is_settled = false;  ///< more pieces did not help: never again
        // Of slices that held nothing else, since the number of pieces was changed last:
        uint32_t measured = 0;
        double us_alone = 0;   ///< of all parts, as the shortest slice says
        double us_before = 0;  ///< the same with half as many pieces; 0: they were never fewer

        uint32_t parts_of_piece() const { return (part_count + pieces - 1) / pieces; }
    };
    /// most_in_flight: slices recorded whose times have not arrived.
    void set_up(std::vector<Step> steps, size_t most_in_flight) {
        steps_ = std::move(steps);
        slices_.resize(most_in_flight);
    }

    uint32_t step_count() const { return static_cast<uint32_t>(steps_.size()); }
    Position end() const { return {step_count(), 0}; }
    /// Whether a slice was measured.  Until then predictions are zero.
    bool is_known() const { return is_known_; }
    /// Microseconds from `first` to `end`.
    double us(Position first, Position end) const;
    double us() const { return us({}, end()); }
    /// From now on a frame's budget is `us`.  Until then what lies between two barriers is never cut.
    void set_budget(double us);
    /// The least that a slice from `first` on costs: up to the next barrier, or one piece.
    double us_of_least(Position first) const;
    /// What a recording from `first` on may hold to end within `us`: up to a barrier, or pieces where what comes
    /// before the next one is longer than the budget.  Nothing, if not even the least does.
    Limits within(Position first, double us) const;

    /// What lies from `first` to `end` was recorded.
    void record(Position first, Position end);
    /// The time of the slice that begins at `first` has arrived.  They arrive in order; some may have been
    /// left out.
    void measure(Position first, double us);

  private:
    static constexpr size_t kRemembered = 32;
    struct Slice {
        Position first, end;
    };
    uint32_t parts_in(uint32_t step, const Slice& slice) const;
    double raw(const Slice& slice) const;
    uint32_t interval_end(uint32_t step) const;
    uint32_t skip_barriers(uint32_t step) const;
    void learn(const Slice& slice, double us);
    bool exceeds_budget(Position first) const;
    void learn_alone(const Slice& slice, double us);
    void remember(double ratio);

    std::vector<Step> steps_;
    std::vector<Slice> slices_;  ///< a ring
    size_t begin_ = 0, count_ = 0;
    std::array<double, kRemembered> ratios_{};  ///< measured by predicted, a ring
    size_t measured_ = 0;
    double margin_ = 1;
    double budget_us_ = std::numeric_limits<double>::infinity();
    bool is_known_ = false;
};

}  // namespace hearth::agents
