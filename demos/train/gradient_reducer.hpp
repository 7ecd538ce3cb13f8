// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Processes that train one brain together, the *ranks*: what they must agree on goes through here.  A program is linked
// with one of two: one_rank.cpp (hearth_train), or mpi_ranks.cpp (hearth_train_mpi).

#pragma once

#include <hearth/status.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace hearth::train {

/// sum(), broadcast() and gather() are collective: all ranks make the same calls in the same order, with as much data.
/// What is lost with a rank ends the others, too.  One thread.
class GradientReducer {
  public:
    virtual ~GradientReducer() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Among the ranks of this machine.
    virtual int local_rank() const = 0;
    /// Of each element the sum over all ranks; the same bits on all of them.
    virtual void sum(std::span<float> values) = 0;
    /// What rank 0 has.
    virtual void broadcast(std::span<std::byte> bytes) = 0;
    /// What all have, one behind the other; on all of them.
    virtual std::vector<std::byte> gather(std::span<const std::byte> bytes) = 0;
    /// Ends all ranks with this exit code; returns where this is the only one.
    virtual void abort(int code) = 0;
};

/// The only rank.
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

/// The ranks that this process was started as one of.
/// Errors: kUnsupported if those are several, and the program was built without MPI.
Result<std::unique_ptr<GradientReducer>> join_ranks();

}  // namespace hearth::train
