// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// GPU cost of an entry's commands, learned from slice timestamps that arrive some frames later.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace hearth {

/// Progress of recording an entry: the next command, and how many of its sub-dispatches are done.
struct Position {
    uint32_t command = 0, part = 0;
    bool is_start() const { return command == 0 && part == 0; }
    friend bool operator==(const Position&, const Position&) = default;
    // No operator<=>: Clang 14 warns about its zero literal under -Wzero-as-null-pointer-constant,
    // which some engines set.
    friend bool operator<(const Position& a, const Position& b) {
        return a.command < b.command || (a.command == b.command && a.part < b.part);
    }
};

/// Limits of one recording, as in hearth_record_info; 0: no limit.
struct Limits {
    uint32_t dispatches = 0, workgroups = 0;
    bool is_nothing() const { return dispatches == 0 && workgroups == 0; }
};

/// Cost per command: measured, or the command's estimate scaled by the measured/estimated ratio of
/// the measured commands.  The time of a slice corrects all of its commands by the same factor;
/// slow commands are separated from fast ones because slices begin and end at different barriers.
/// Predictions are multiplied by a safety margin: the second-largest ratio of measured to predicted
/// time over the last 32 slices, between 1 and 4.
///
/// A barrier interval that exceeds the budget is recorded command by command, and a dispatch that
/// exceeds it in pieces: two, then four, as long as all of them together take at most half as long
/// again as one.  On a GPU that runs all workgroups of the dispatch at once, half of them take as
/// long as all.  Pieces are judged by their fastest slices, which did not wait for other work.
class CostMeter {
  public:
    struct Command {
        bool is_barrier = false, is_known = false;
        double us = 0;            ///< time of all sub-dispatches
        double estimate = 1;      ///< estimated time of all sub-dispatches, in the caller's unit
        uint32_t part_count = 1;  ///< hearth_command_info
        uint64_t workgroups = 0;
        uint32_t pieces = 1;      ///< pieces it is recorded in if it exceeds the budget
        bool is_settled = false;  ///< more pieces did not help: the number of pieces is final
        // From slices that held nothing else, since the number of pieces last changed:
        uint32_t measured = 0;
        double us_alone = 0;   ///< time of all sub-dispatches, from the fastest slice
        double us_before = 0;  ///< us_alone with half as many pieces; 0: never had fewer
        double us_whole = 0;   ///< us_alone in one piece

        uint32_t parts_of_piece() const { return (part_count + pieces - 1) / pieces; }
    };
    /// steps  one per command of the entry; kept by reference and written to.  Until the first
    /// slice is measured, `us` is the predicted cost.
    void set_up(std::span<Command> commands) { commands_ = commands; }

    uint32_t command_count() const { return static_cast<uint32_t>(commands_.size()); }
    Position end() const { return {command_count(), 0}; }
    /// True once a slice has been measured.
    bool is_known() const { return is_known_; }
    /// Predicted time from `first` to `end`, in microseconds.
    double us(Position first, Position end) const;
    double us() const { return us({}, end()); }
    /// Sets the budget to `us`.  Before the first call barrier intervals are never split.
    void set_budget(double us);
    /// Predicted time of the smallest slice from `first` on: up to the next barrier, or one piece.
    double us_of_least(Position first) const;
    /// Recording limits of that smallest slice.
    Limits least(Position first) const;
    /// Number of smallest slices from `first` to the end.
    uint32_t slices_from(Position first) const;
    /// Limits of the largest recording from `first` on that is predicted to take at most `us`: up
    /// to a barrier, or in pieces if the interval before the next barrier exceeds the budget.  Zero
    /// limits if even the smallest slice does not fit.
    Limits within(Position first, double us) const;

    /// Reports the measured time of a slice.
    void measure(Position first, Position end, double us);
    /// Replaces the command's sub-dispatches and workgroups, and scales its time by `factor`.
    void rescale(uint32_t command, double factor, double estimate, uint32_t part_count,
                 uint64_t workgroups);

  private:
    static constexpr size_t kRemembered = 32;
    struct Slice {
        Position first, end;
    };
    uint32_t parts_in(uint32_t command, const Slice& slice) const;
    double raw(const Slice& slice) const;
    uint32_t interval_end(uint32_t command) const;
    Position skip_barriers(Position at) const;
    bool exceeds_budget(Position first) const;
    Position end_of_least(Position first) const;
    void learn_alone(const Slice& slice, double us);
    void remember(double ratio);

    std::span<Command> commands_;
    std::array<double, kRemembered> ratios_{};  ///< ring buffer of measured/predicted ratios
    size_t measured_ = 0;
    double margin_ = 1;
    double budget_us_ = std::numeric_limits<double>::infinity();
    bool is_known_ = false;
};

}  // namespace hearth
