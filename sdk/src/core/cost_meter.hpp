// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What the steps of an entry cost on the GPU: learned from timestamps of slices, which arrive some frames later.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace hearth {

/// How far the recording of an entry has come: the next step, and how many parts of it are done.
struct Position {
    uint32_t step = 0, part = 0;
    bool is_start() const { return step == 0 && part == 0; }
    friend bool operator==(const Position&, const Position&) = default;
    // Not <=>, whose zero Clang 14 takes for a pointer in engines with -Wzero-as-null-pointer-constant.
    friend bool operator<(const Position& a, const Position& b) {
        return a.step < b.step || (a.step == b.step && a.part < b.part);
    }
};

/// How much one recording may hold, as hearth_record_info has it; 0: no limit.
struct Limits {
    uint32_t dispatches = 0, workgroups = 0;
    bool is_nothing() const { return dispatches == 0 && workgroups == 0; }
};

/// Each step has a cost of its own.  Until it was measured this is its estimate, scaled as those that were measured
/// differ from theirs.  A slice's time corrects those of its steps by the same factor, so that a slow step is told
/// from fast ones as slices begin and end at different barriers.  Predictions are raised by how much longer than
/// predicted the last 32 slices took, but for the longest of them, fourfold at most.
///
/// What lies between two barriers and is longer than the budget is recorded step by step, and a dispatch that is
/// longer in pieces: two, then four, as long as that helps.  A GPU that runs all its workgroups at once takes as long
/// for half of them, so whether it helps is measured.
class CostMeter {
  public:
    struct Step {
        bool is_barrier = false, is_known = false;
        double us = 0;            ///< of all its parts
        double estimate = 1;      ///< of the same, in a unit of the caller's
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
    /// steps  one for each step of the entry; kept, and written to.  `us` of each is what is predicted until the first
    ///        slice was measured.
    void set_up(std::span<Step> steps) { steps_ = steps; }

    uint32_t step_count() const { return static_cast<uint32_t>(steps_.size()); }
    Position end() const { return {step_count(), 0}; }
    /// Whether a slice was measured.
    bool is_known() const { return is_known_; }
    /// Microseconds from `first` to `end`.
    double us(Position first, Position end) const;
    double us() const { return us({}, end()); }
    /// From now on the budget is `us`.  Until then what lies between two barriers is never cut.
    void set_budget(double us);
    /// The least that a slice from `first` on costs: up to the next barrier, or one piece.
    double us_of_least(Position first) const;
    /// The limits of that slice.
    Limits least(Position first) const;
    /// What a recording from `first` on may hold to end within `us`: up to a barrier, or pieces where what comes
    /// before the next one is longer than the budget.  Nothing, if not even the least does.
    Limits within(Position first, double us) const;

    /// The time of a slice has arrived.
    void measure(Position first, Position end, double us);
    /// From now on the step is another: with other parts, and `factor` times as long.
    void rescale(uint32_t step, double factor, double estimate, uint32_t part_count,
                 uint64_t workgroups);

  private:
    static constexpr size_t kRemembered = 32;
    struct Slice {
        Position first, end;
    };
    uint32_t parts_in(uint32_t step, const Slice& slice) const;
    double raw(const Slice& slice) const;
    uint32_t interval_end(uint32_t step) const;
    Position skip_barriers(Position at) const;
    bool exceeds_budget(Position first) const;
    void learn_alone(const Slice& slice, double us);
    void remember(double ratio);

    std::span<Step> steps_;
    std::array<double, kRemembered> ratios_{};  ///< measured by predicted, a ring
    size_t measured_ = 0;
    double margin_ = 1;
    double budget_us_ = std::numeric_limits<double>::infinity();
    bool is_known_ = false;
};

}  // namespace hearth
