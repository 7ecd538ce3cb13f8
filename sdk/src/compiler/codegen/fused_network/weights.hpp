// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How the weights of a fused network's products come from their buffers to where products read them:
// shared memory or the registers of threads.

#pragma once

#include "compiler/codegen/fused_network/frame.hpp"

#include <map>

namespace hearth {

class RowWeightCopies {
  public:
    explicit RowWeightCopies(NetworkFrame& frame) : frame_(frame) {}

    /// Copies weights to shared memory; `from` is the first of the inner extent.
    void load(KernelWriter& to, size_t index, Expr from);
    void load_all(KernelWriter& to, size_t index) { load(to, index, frame_.index(0)); }
    /// Opens the loop over chunks of weights that come into shared memory one by one.  Returns the
    /// chunk's first of the inner extent; the caller closes the loop.
    Expr open_chunks(KernelWriter& to, size_t index);

    /// The same in two halves with registers in between, so that other work hides the wait.
    void fetch(KernelWriter& to, size_t index);
    void put(KernelWriter& to, size_t index);
    /// Whether registers may have them on their way.
    bool can_fetch(size_t index) const;

    /// Brings the weights that a thread multiplies by into its registers, for good.
    void hold(KernelWriter& to, size_t index);
    /// The array in which they are then.
    Expr held(size_t index) const { return held_.at(index); }

  private:
    /// 16 bytes: four floats, or eight f16.
    struct Quad {
        Expr value, place;
    };
    static Chunk chunk_of(const RowWeight& w) {
        return w.half_edge != 0 ? Chunk::kHalves : Chunk::kFour;
    }
    static int quads_of_line(const RowWeight& w) {
        return w.line_width() / static_cast<int>(length_of(chunk_of(w)));
    }
    int quads(const RowWeight& w) const;
    Quad quad(KernelWriter& to, size_t index, Expr e, Expr from);
    Expr four_floats(size_t index, Expr i, Expr j);
    Expr eight_halves(size_t index, Expr i, Expr j);
    /// The f32 in a buffer that an expression rounds to f16, and does nothing else to; or kNone.
    ValueId rounded_from(ValueId v) const;
    /// A quad as shared memory has it.
    Expr in_memory(Expr quad) const {
        return frame_.has_matrices() ? frame_.body->reinterpret(quad) : quad;
    }
    Expr held_value(size_t index, Expr n, Expr q);

    /// Functions that give an element of weights that are expressions, and four of them.
    struct Functions {
        uint32_t element = 0, four = 0;
    };
    const Functions& functions_of(size_t index);

    NetworkFrame& frame_;
    std::map<size_t, Functions> functions_;
    std::map<size_t, Expr> held_;
};

/// A thread's turns over the weights that it holds.
struct HeldTurn {
    Expr round, task, column, quad;
    Expr place;      ///< in the array
    int scopes = 0;  ///< within those of a round
};
HeldTurn open_held(const NetworkFrame& frame, KernelWriter& to, const RowWeight& w);

}  // namespace hearth
