// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Implements the collective operations with MPI.

#include "train/gradient_reducer.hpp"

#include <mpi.h>

#include <algorithm>

namespace hearth::train {

namespace {

// MPI errors end the job (MPI_ERRORS_ARE_FATAL, the default), so nothing is checked here.
class MpiRanks : public GradientReducer {
  public:
    MpiRanks() {
        MPI_Init(nullptr, nullptr);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        MPI_Comm host = MPI_COMM_NULL;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host);
        MPI_Comm_rank(host, &local_rank_);
        MPI_Comm_free(&host);
    }
    ~MpiRanks() override { MPI_Finalize(); }
    MpiRanks(const MpiRanks&) = delete;
    MpiRanks& operator=(const MpiRanks&) = delete;

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int local_rank() const override { return local_rank_; }

    void sum(std::span<float> values) override {
        parts(values.size(), [&](size_t at, int count) {
            MPI_Allreduce(MPI_IN_PLACE, values.data() + at, count, MPI_FLOAT, MPI_SUM,
                          MPI_COMM_WORLD);
        });
    }
    void broadcast(std::span<std::byte> bytes) override {
        parts(bytes.size(), [&](size_t at, int count) {
            MPI_Bcast(bytes.data() + at, count, MPI_BYTE, 0, MPI_COMM_WORLD);
        });
    }
    std::vector<std::byte> gather(std::span<const std::byte> bytes) override {
        std::vector<std::byte> all(bytes.size() * static_cast<size_t>(size_));
        for (int r = 0; r < size_; ++r) {
            const auto own =
                std::span(all).subspan(static_cast<size_t>(r) * bytes.size(), bytes.size());
            if (r == rank_) std::ranges::copy(bytes, own.begin());
            parts(own.size(), [&](size_t at, int count) {
                MPI_Bcast(own.data() + at, count, MPI_BYTE, r, MPI_COMM_WORLD);
            });
        }
        return all;
    }
    void abort(int code) override { MPI_Abort(MPI_COMM_WORLD, code); }

  private:
    /// Splits calls: MPI's counts are ints.
    template <class Call>
    static void parts(size_t size, const Call& call) {
        constexpr size_t kMost = size_t{1} << 28;
        for (size_t at = 0; at < size; at += kMost)
            call(at, static_cast<int>(std::min(kMost, size - at)));
    }

    int rank_ = 0, size_ = 1, local_rank_ = 0;
};

}  // namespace

Result<std::unique_ptr<GradientReducer>> join_ranks() {
    return std::unique_ptr<GradientReducer>(std::make_unique<MpiRanks>());
}

}  // namespace hearth::train
