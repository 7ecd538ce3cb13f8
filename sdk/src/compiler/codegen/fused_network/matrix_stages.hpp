// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The stages of a fused network on matrix cores that others have not (row_stages.hpp).  Rows lie in shared
// memory between them, as without matrix cores, or stay in registers: subgroups keep their own rows as
// fragments from the first layer to the last and back.  The sums of a layer become the next one's
// left factor there, and layers wait for no other subgroup.  For weight gradients subgroups share
// both factors in shared memory, step by step (RowStep), and each adds up fragments of its own, from
// tile to tile.

#pragma once

#include "compiler/codegen/fused_network/fragments.hpp"
#include "compiler/codegen/fused_network/stages.hpp"

#include <bit>

namespace hearth {

/// How a product or gradient is dealt out to subgroups: tasks of a fragment, or some below each other.
struct FragmentDeal {
    int tasks = 0, columns = 0;
};
FragmentDeal deal_matrix_gradient(const NetworkFrame& frame, const NetworkStage& stage);
/// Whether the program's weight gradients stay in registers from tile to tile.
bool keeps_matrix_gradients(const NetworkFrame& frame);

/// Goes through a subgroup's tasks of a deal.
class FragmentTasks {
  public:
    /// with_barriers: every subgroup comes by, as often as any other, and does what is between
    /// open_own() and close_own() if it has a task.
    FragmentTasks(const NetworkFrame& frame, KernelWriter& to, const FragmentDeal& deal, Expr own,
                  const char* column_name, const char* line_name, bool with_barriers = false);
    void close();

    /// What is always true should not look like a branch around fragments, which drivers shun.
    void open_own();
    void close_own();

    Expr round, task, column, line;

  private:
    KernelWriter& to_;
    bool with_barriers_, may_lack_;
    int tasks_;
};

/// The subgroup's own place in shared memory, where it is known which element of sums is which.
class SpreadSums {
  public:
    explicit SpreadSums(const NetworkFrame& frame) : frame_(frame) {}
    /// Stores sums there.
    void store(KernelWriter& to, FragmentTasks& tasks, Expr sums) const;
    /// Where line `i` begins, in floats.
    Expr line(Expr i) const;

  private:
    const NetworkFrame& frame_;
};

/// Rows times weights, both in shared memory.
class MatrixProductStage final : public Stage {
  public:
    MatrixProductStage(NetworkFrame& frame, const NetworkStage& stage, RowWeightCopies& weights);
    std::vector<Statement> write() override;

  private:
    void multiply(const FragmentTasks& task);
    bool store_fragments(Expr own);
    void store_elements(Expr own);
    Expr sum(const FragmentTasks& task, Expr i) const;

    RowWeightCopies& weights_;
    const RowWeight& weight_;
    FragmentDeal deal_;
    int lines_ = 1;  ///< fragments of a task
    KernelWriter writer_;
    Expr sums_, chunk_;
};

/// Sums of products over the workgroup's rows: gradients of weights.
class MatrixGradientStage final : public Stage {
  public:
    MatrixGradientStage(NetworkFrame& frame, const NetworkStage& stage);
    std::vector<Statement> write() override;

  private:
    Expr clear(KernelWriter& to, const char* name);
    void add_up(Expr own);
    void store(KernelWriter& to, Expr own);

    RowTile left_, right_;
    FragmentDeal deal_;
    KernelWriter writer_;
    Expr sums_;
};

/// A sum over the rows of a tile of f16, of each column alone: a thread has two columns, and all rows.
class ColumnPairSumStage final : public Stage {
  public:
    using Stage::Stage;
    /// Whether the workgroup has no other rows than a tile's few, in which lines beyond the last are zeros.
    static bool fits(const NetworkFrame& frame, const NetworkStage& stage);
    std::vector<Statement> write() override;
};

/// The same in turns of threads that have eight columns each, whose sums at the end find room where the
/// tiles were.
class ColumnEightSumStage final : public Stage {
  public:
    using Stage::Stage;
    static bool fits(const NetworkFrame& frame, const NetworkStage& stage);
    std::vector<Statement> write() override;
};

/// A sum over the rows of a factor that subgroups share (MatrixGradientStage, rows in registers).
class SharedFactorSumStage final : public Stage {
  public:
    SharedFactorSumStage(NetworkFrame& frame, const NetworkStage& stage,
                         const NetworkStage& gradient);
    std::vector<Statement> write() override;

  private:
    const RowTile& tile_;
    int offset_;
};

// ------------------------------------------------------------------------------ rows in registers

/// Makes values that stay in registers.
class FragmentStage : public Stage {
  public:
    FragmentStage(NetworkFrame& frame, const NetworkStage& stage)
        : Stage(frame, stage), writer_(frame.writer()) {}

    /// Sums over all rows and columns that are taken fragment by fragment as this stage makes them.
    void then_sum(const NetworkStage& sum) { sums_.push_back(&sum); }
    void prepare(KernelWriter& to) override;
    std::vector<Statement> write() override;

  protected:
    std::span<const ValueId> values() const;
    /// Goes through the fragments of so many columns of each block of rows.
    FragmentPlace open_fragments(int columns);
    void close_fragments();
    /// products: sums of a product, one for each fragment.
    void write_values(Expr products = {});
    void add_total(const NetworkStage& sum, const FragmentPlace& place);
    void mask_summed(FragmentMemory& memory, ValueId v, Expr sums);

    KernelWriter writer_;

  private:
    std::vector<const NetworkStage*> sums_;
};

/// Rows of f16 as they lie in their buffer.
class FragmentFillStage final : public FragmentStage {
  public:
    using FragmentStage::FragmentStage;
    std::vector<Statement> write() override;
};

/// Rows times weights in shared memory.
class FragmentProductStage final : public FragmentStage {
  public:
    FragmentProductStage(NetworkFrame& frame, const NetworkStage& stage);
    std::vector<Statement> write() override;

  private:
    Expr left_factors();

    const RowWeight& weight_;
    const RowTile& left_;
};

/// A sum over all rows and columns.
class FragmentTotalStage final : public FragmentStage {
  public:
    using FragmentStage::FragmentStage;
    void prepare(KernelWriter&) override {}
    std::vector<Statement> write() override;
};

std::unique_ptr<FragmentStage> make_fragment_stage(NetworkFrame& frame, const NetworkStage& stage);

/// Puts the subgroup's rows of a gradient's factors where all can read them.
void share_factors(NetworkFrame& frame, KernelWriter& to, const NetworkStage& gradient);

}  // namespace hearth
