// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Collective operations among *ranks*: processes that train one brain together. A program links one
// of two implementations: one_rank.cpp (hearth_train), or mpi_ranks.cpp (hearth_train_mpi).

#pragma once

#include <hearth/status.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace hearth::train {

/// sum(), broadcast() and gather() are collective: all ranks make the same calls in the same order,
/// with equal sizes. A lost rank ends the others, too. One thread.
class GradientReducer {
  public:
    virtual ~GradientReducer() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Rank among the processes on this machine.
    virtual int local_rank() const = 0;
    /// Elementwise sum over all ranks; bitwise equal on all of them.
    virtual void sum(std::span<float> values) = 0;
    /// Copies rank 0's bytes to all ranks.
    virtual void broadcast(std::span<std::byte> bytes) = 0;
    /// Concatenates the bytes of all ranks, on all of them.
    virtual std::vector<std::byte> gather(std::span<const std::byte> bytes) = 0;
    /// Ends all ranks with this exit code; returns if this is the only one.
    virtual void abort(int code) = 0;
};

/// A single process.
class OneRank : public GradientReducer {
  public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    int local_rank() const override { return 0; }
    void sum(std::span<float>) override {}
    void broadcast(std::span<std::byte>) override {}
    std::vector<std::byte> gather(std::span<const std::byte> bytes) override {
        return {bytes.begin(), bytes.end()};
    }
    void abort(int) override {}
};

/// Joins the ranks that this process was started with.
/// Errors: kUnsupported if there are several and the program was built without MPI.
Result<std::unique_ptr<GradientReducer>> join_ranks();

}  // namespace hearth::train
