// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The stages of a fused network, by what they do and, of products, by where the weights lie.  Each
// says as statements what the workgroup's threads do for one tile of rows.

#pragma once

#include "compiler/codegen/fused_network/frame.hpp"
#include "compiler/codegen/fused_network/scope.hpp"
#include "compiler/codegen/fused_network/weights.hpp"
#include "compiler/codegen/recurrent/gru_steps.hpp"

#include <memory>

namespace hearth {

class Stage {
  public:
    Stage(NetworkFrame& frame, const NetworkStage& stage) : frame_(frame), stage_(stage) {}
    virtual ~Stage() = default;
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

    /// What happens ahead of all stages' write() of the level, behind its first barrier.
    virtual void prepare(KernelWriter&) {}
    /// The stage's statements, in a scope of their own.  What outlives the tile goes to the frame's
    /// `declarations` and `ends`.
    virtual std::vector<Statement> write() = 0;

  protected:
    NetworkFrame& frame_;
    const NetworkStage& stage_;
};

std::unique_ptr<Stage> make_stage(NetworkFrame& frame, RowWeightCopies& weights,
                                  const NetworkStage& stage);

/// What a stage does, for whoever reads the kernel.
std::string label_of(const Graph& graph, const NetworkPlan& plan, const NetworkStage& stage);

/// How a product or gradient is dealt out to threads: tasks of `lines` x 4 results.
struct Deal {
    int columns = 0;  ///< groups of four
    int lines = 1;    ///< each task's
    int tasks = 0;
    int rounds = 1;

    Deal(int line_count, int width, int lines_each, int threads)
        : columns(ceil_div(width, 4)),
          lines(lines_each),
          tasks(ceil_div(line_count, lines_each) * columns),
          rounds(ceil_div(tasks, threads)) {}
};

/// Goes through a thread's tasks of a deal.
struct DealtTask {
    Expr round;
    Expr column;      ///< "c": a group of four
    Expr first_line;  ///< "r0"
};
DealtTask open_tasks(const NetworkFrame& frame, KernelWriter& to, const Deal& deal, Expr lane);
void close_tasks(KernelWriter& to);

/// Registers of a thread that gradients may take from tile to tile; beyond, they live in their buffers.
inline constexpr int kMostKeptFloats = 96;
inline int most_kept_floats(uint32_t registers) {
    return static_cast<int>(std::min<uint32_t>(kMostKeptFloats, registers / 2));
}

Deal deal_gradient(const NetworkPlan& plan, const NetworkStage& stage);
/// Whether the program's weight gradients stay in registers from tile to tile.
bool keeps_gradients(const NetworkPlan& plan, const DeviceCaps& caps);

/// Stores a sum of which each thread has a part, the first of `totals`: folded in a tree, at the end.
void store_total(NetworkFrame& frame, ValueId v, Expr totals);

/// Copies rows that a product reads into shared memory.
class FillStage final : public Stage {
  public:
    using Stage::Stage;
    std::vector<Statement> write() override;
};

/// Element by element.
class MapStage final : public Stage {
  public:
    using Stage::Stage;
    std::vector<Statement> write() override;
};

/// Reductions within each row, by some neighbouring threads for each.
class ReductionStage final : public Stage {
  public:
    ReductionStage(NetworkFrame& frame, const NetworkStage& stage);
    std::vector<Statement> write() override;

  private:
    ScalarPlace open_line();
    void fold_lanes(ReduceOp fold, Expr sum);
    void store_results();
    void put_zeros_behind(ValueId v, Expr condition);

    NetworkScope scope_;
    Shape outer_, reduced_;
    int outer_count_ = 1, length_ = 1, lanes_ = 1;
    Expr is_mine_, sub_, in_tile_, outer_name_;
    Scalar outer_index_;
    Coords<Scalar> outer_at_;
};

/// Rows times weights that lie in shared memory.
class SharedProductStage final : public Stage {
  public:
    SharedProductStage(NetworkFrame& frame, const NetworkStage& stage, RowWeightCopies& weights);
    std::vector<Statement> write() override;

  private:
    void multiply(const DealtTask& task);
    void store_results(Expr lane);

    RowWeightCopies& weights_;
    const RowWeight& weight_;
    Deal deal_;
    bool in_chunks_;
    KernelWriter writer_;
    Expr sums_, chunk_;
};

/// Rows times weights that threads hold in registers.
class RegisterProductStage final : public Stage {
  public:
    RegisterProductStage(NetworkFrame& frame, const NetworkStage& stage,
                         const RowWeightCopies& weights);
    void prepare(KernelWriter& to) override;
    std::vector<Statement> write() override;

  private:
    void store_own();
    void store_sums_of_slices();
    void bind_column(Expr n);

    const RowWeightCopies& weights_;
    const RowWeight& weight_;
    Expr sums_, column_, inside_;
    NetworkScope scope_;
    Scalar sum_, inner_;
};

/// Sums of products over the workgroup's rows: gradients of weights.
class GradientStage final : public Stage {
  public:
    GradientStage(NetworkFrame& frame, const NetworkStage& stage);
    std::vector<Statement> write() override;

  private:
    void store_sums(KernelWriter& to, Expr lane);

    const RowTile &left_, &right_;
    Deal deal_;
    Expr sums_;
};

/// A sum over the workgroup's rows.
class RowSumStage final : public Stage {
  public:
    RowSumStage(NetworkFrame& frame, const NetworkStage& stage);
    std::vector<Statement> write() override;

  private:
    /// Opens the loops over the terms of which a thread adds up some.
    int open_terms(Expr lane);
    void store_columns(int first_thread);
    void store_slices(int first_thread);

    NetworkScope scope_;
    ValueId sum_;
    Shape kept_, reduced_;
    int columns_ = 1, length_ = 1, rounds_ = 1, slices_ = 1;
    bool is_alone_ = false;   ///< a thread adds up all terms of a column: without a barrier
    bool is_single_ = false;  ///< all threads add up one number
    Expr totals_, in_tile_, column_, term_, round_;
};

/// Goes through the rows of windows, one after the other: a GRU, or its backpropagation through time
/// (compiler/ops/kernels/gru_walk.hpp).  A tile holds whole windows.
class WalkStage final : public Stage, GruSteps {
  public:
    WalkStage(NetworkFrame& frame, const NetworkStage& stage);
    std::vector<Statement> write() override;

  private:
    void put_zeros_behind();
    void read(size_t input, std::initializer_list<Expr> place, Expr to, const Row& row) override;
    void store(size_t output, Expr content, Expr inner, const Row& row) override;
    bool asks_for(size_t output) const override;
    Expr load_from_memory(size_t input, Expr element) override;
    void store_in_memory(size_t output, Expr element, Expr content) override;
    Expr shared(Expr i) const override;
    void put_shared(Expr i, Expr value) override;

    KernelWriter writer_;
};

}  // namespace hearth
