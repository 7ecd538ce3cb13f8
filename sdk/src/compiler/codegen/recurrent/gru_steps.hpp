// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The steps of a GRU that a workgroup carries sequences through, and backpropagation through them, from the last to the
// first.  A step is two phases: some threads share each unit's products with the state before, then one thread for each
// unit computes the gates; on the way back the other way round.  States and sums lie in shared memory.
//
// Kernels of their own (gru_kernel.cpp) and stages of fused networks (fused_network/stage_walk.cpp) differ in how they
// reach operands and shared memory.

#pragma once

#include "compiler/kernel/body.hpp"
#include "compiler/kernel/writer.hpp"
#include "compiler/ops/kernels/gru_walk.hpp"

#include <initializer_list>

namespace hearth {

class GruSteps {
  protected:
    GruSteps(Body& body, KernelWriter& writer, const GruWalk& walk)
        : walk_(walk), body_(body), writer_(writer) {}
    ~GruSteps() = default;
    GruSteps(const GruSteps&) = delete;
    GruSteps& operator=(const GruSteps&) = delete;

    /// A row of the tile, and of the whole.
    struct Row {
        Expr in_tile, in_whole;
    };

    void write_steps();

    /// Sets `to` to an element of an input; coordinates: in its first axis a row, if it has one.
    virtual void read(size_t input, std::initializer_list<Expr> place, Expr to,
                      const Row& row = {}) = 0;
    /// Stores element `inner` of a row of an output.
    virtual void store(size_t output, Expr content, Expr inner, const Row& row) = 0;
    /// True if anything reads the output.
    virtual bool asks_for(size_t output) const = 0;
    /// Elements of what always lies in memory as it is: the gates, and the cotangent of the start.
    virtual Expr load_from_memory(size_t input, Expr element) = 0;
    virtual void store_in_memory(size_t output, Expr element, Expr content) = 0;
    /// Float `i` of shared memory.
    virtual Expr shared(Expr i) const = 0;
    virtual void put_shared(Expr i, Expr value) = 0;

    Expr index(int64_t value) const { return body_.index(value); }
    /// sum += a * b, in one rounding where the device has that; b: a number for each element of a.
    void add_product(Expr sum, Expr a, Expr b) {
        const Expr factor = a.chunk() == Chunk::kOne ? b : body_.fill(a.chunk(), b);
        writer_.assign(sum, body_.multiply_add(a, factor, sum));
    }
    Expr number(double value) const { return body_.constant(value, ScalarType::kF32); }

    const GruWalk walk_;
    // Set by the derived class:
    Expr thread_;
    Expr first_, count_;  ///< the tile's rows
    Expr last_row_;
    int64_t shared_offset_ = 0;  ///< floats of shared memory ahead of the walk's
    bool has_resets_ = false;
    bool stores_check_rows_ = false;  ///< store() leaves out rows beyond the last

  private:
    void go_forward();
    void first_states();
    void sums_forward();
    void gates_forward(Expr step);
    void go_backward();
    void cotangents(Expr step);
    Expr cotangent_of_state(Expr step, Expr e, const Row& row);
    void sums_backward();
    /// Brings the weights that a thread multiplies by into its registers.
    void hold_weights();

    Expr each_unit();
    Expr each_task();
    /// For each of so many: "gate".
    Expr each_gate(int count);
    Row row_of_step(Expr e, Expr step);
    Expr element_of_gate(Expr gate, Expr j);
    Expr element_in_memory(const Row& row, Expr gate, Expr j);
    void open_row(const Row& row);
    void open_stores(const Row& row);
    Expr read_weight(size_t input, Expr line, Expr column, Expr condition = {});
    void read_reset(size_t input, Expr to, const Row& row);
    /// Float `i` of what the walk keeps behind so many floats for each unit.
    Expr place(int64_t of_units, Expr i) const;
    Expr at(Expr chunk, Expr index) const { return body_.chunk_element(chunk, index); }
    Expr at(Expr chunk, int64_t i) const { return at(chunk, index(i)); }

    Body& body_;
    KernelWriter& writer_;
    Expr held_;
};

}  // namespace hearth
