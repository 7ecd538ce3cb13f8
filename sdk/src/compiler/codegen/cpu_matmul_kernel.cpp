// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Matrix products for CPUs, as bodies: tiled for caches and registers after Goto and van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication", 2008.
//
// A workgroup, which is one invocation, computes kBlockRows rows of one column of tiles.  It packs a panel of the
// right operand, [inner, columns of the tile], where that does not lie so in memory; then each tile's sums stay
// in registers while it goes along the inner extent: a number of the left operand for each row, times a row of
// the panel.  Sums of a long inner extent wait in an array between its blocks.  What follows the product is
// computed from that array, element by element.
//
// The order of additions depends on shapes and the device model alone.

#include "compiler/codegen/group_expressions.hpp"
#include "compiler/codegen/group_kernels.hpp"
#include "compiler/codegen/index_analysis.hpp"
#include "compiler/codegen/known_ranges.hpp"
#include "compiler/codegen/matmul_functions.hpp"
#include "core/device_model.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>

namespace hearth {

namespace {

constexpr int64_t kBlockRows = 128;  // of a workgroup, rounded up to whole tiles
constexpr int64_t kInner = 256;  // of a panel: 16 KiB with 16 columns, half of a first-level cache

class CpuMatmul {
  public:
    CpuMatmul(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
              const LowerOptions& options)
        : graph_(graph),
          group_(group),
          options_(options),
          node_(node_of(graph, group, OpClass::kMatmul)),
          body_(std::make_shared<Body>()),
          operand_(operands_of(graph, options, *body_)),
          expressions_(graph, group, inlined),
          arena_(expressions_.arena()),
          writer_(*body_, arena_, operand_),
          tile_(device_model(options.caps).tile) {
        const MatmulExtents extents(graph, node_);
        batch_ = extents.batch;
        m_ = extents.m;
        n_ = extents.n;
        k_ = extents.k;
        sum_type_ = scalar_type(graph.values[node_.outputs[0]].dtype);
        const auto capacity = static_cast<int64_t>(options.rows_capacity);
        const int64_t most_rows = std::max<int64_t>(m_.at(capacity), 1);
        tile_.rows = static_cast<uint32_t>(std::min<int64_t>(tile_.rows, most_rows));
        const int64_t rows = tile_.rows;
        block_rows_ = (std::min(most_rows, kBlockRows) + rows - 1) / rows * rows;
        has_blocks_ = k_.at(capacity) > kInner;
    }

    KernelDraft run() {
        place_workgroup();
        if (sum_type_ == ScalarType::kF32)
            multiply();
        else
            multiply_integers();
        KernelDraft kernel;
        kernel.name = "matmul";
        body_->statements = writer_.take();
        body_->threads = 1;
        const std::vector<uint32_t> operands = operand_values(*body_);
        set_body(kernel, body_);
        kernel.is_elementwise = elementwise_buffers(arena_, operands, element_);
        const auto columns = static_cast<uint32_t>(tile_.columns());
        kernel.grid[0] = {work_of(n_), columns};
        kernel.grid[1] = {work_of(m_), static_cast<uint32_t>(block_rows_)};
        kernel.grid[2] = {work_of(batch_.element_count()), 1};
        const auto rows = static_cast<int64_t>(options_.rows_capacity);
        kernel.flops = static_cast<uint64_t>(2 * m_.at(rows) * n_.at(rows) * k_.at(rows) *
                                             batch_.element_count(rows));
        return kernel;
    }

  private:
    Expr index(int64_t value) const { return body_->index(value); }
    Expr smaller(Expr a, Expr b) { return body_->operation(ScalarOp::kMin, a, b); }
    Expr tiles(Dim count, int64_t each) { return (count_of(count, *body_) + (each - 1)) / each; }

    /// Whose rows and columns the workgroup computes: workgroups go along n first, then m, then batch.
    void place_workgroup() {
        const int64_t columns = tile_.columns();
        const Expr group = writer_.let("group", body_->workgroup());
        const Expr across = writer_.let("across", tiles(n_, columns));
        const Expr down = writer_.let("down", tiles(m_, block_rows_));
        first_column_ = writer_.let("first_column", group % across * columns);
        first_row_ = writer_.let("first_row", group / across % down * block_rows_);
        column_count_ = writer_.let("column_count",
                                    smaller(index(columns), count_of(n_, *body_) - first_column_));
        row_count_ = writer_.let("row_count",
                                 smaller(index(block_rows_), count_of(m_, *body_) - first_row_));
        batch_index_ = arena_.variable(ScalarType::kI32);
        writer_.bind(batch_index_, writer_.let("batch", group / across / down));
    }

    /// The operand's element that the product calls (batch, i, j).
    Scalar element_of(size_t input, Scalar i, Scalar j) {
        const Shape& shape = graph_.values[node_.inputs[input]].shape;
        const Coords<Scalar> batch = coords_of(arena_, {batch_index_, {}}, batch_);
        Coords<Scalar> at;
        for (int axis = 0; axis + 2 < shape.rank(); ++axis) {
            const int from = axis + batch_.rank() - (shape.rank() - 2);
            at.axis.push_back(shape[axis].is_one() ? arena_.index(0) : batch[from]);
        }
        const bool transposed = node_.attrs.flag(input == 0 ? "transpose_a" : "transpose_b");
        at.axis.push_back(transposed ? j : i);
        at.axis.push_back(transposed ? i : j);
        // Behind reshapes of what is loaded, as of a convolution's filters, the same linear index: coordinates would
        // be taken apart and put together again for each element.
        const ValueId value = node_.inputs[input];
        const ValueId loaded = behind_reshapes(value);
        if (loaded != value && !expressions_.is_computed_here(loaded))
            return expressions_.read(loaded, {linear_of(arena_, {{}, at}, shape), {}});
        return expressions_.read(value, {{}, at});
    }

    ValueId behind_reshapes(ValueId value) const {
        while (expressions_.is_computed_here(value)) {
            const Node& maker = *graph_.producer(value);
            if (!maker.op->is_reshape) break;
            value = maker.inputs[0];
        }
        return value;
    }

    /// Whether the right operand lies in memory as f32, the columns of each tile side by side.
    bool is_in_rows() {
        const Scalar k = arena_.variable(ScalarType::kI32), n = arena_.variable(ScalarType::kI32);
        const ScalarNode node = element_of(1, k, n).node();
        if (node.op != ScalarOp::kLoad || n_.per_row || n_.count % tile_.columns() != 0)
            return false;
        const DType dtype = graph_.values[node.bits].dtype;
        return device_dtype(dtype, options_.caps.narrow_storage()) == DType::kF32 &&
               IndexAnalysis(arena_, n, n, tile_.columns()).step(Scalar{&arena_, node.a}) == 1;
    }

    void multiply() {
        const int64_t columns = tile_.columns();
        const bool in_rows = is_in_rows();
        if (!in_rows)
            panel_ = writer_.declare_array("panel", ScalarType::kF32,
                                           static_cast<uint32_t>(kInner * columns));
        sums_ = writer_.declare_array("sums", ScalarType::kF32,
                                      static_cast<uint32_t>(block_rows_ * columns));
        const Expr inner = count_of(k_, *body_);
        first_inner_ = index(0);
        inner_count_ = inner;
        if (has_blocks_) {
            const Expr i =
                writer_.for_("i", index(0), [&](Expr at) { return at < block_rows_ * columns; });
            writer_.assign(body_->element(sums_, i), body_->constant(0, ScalarType::kF32));
            writer_.end();
            first_inner_ = writer_.for_(
                "first_inner", index(0), [&](Expr at) { return at < inner; }, index(kInner));
            inner_count_ = writer_.let("inner_count", smaller(index(kInner), inner - first_inner_));
        }
        if (!in_rows) pack();
        const Expr row = writer_.for_(
            "row", index(0), [&](Expr at) { return at < row_count_; }, index(tile_.rows));
        multiply_tile(row, in_rows);
        writer_.end();
        if (has_blocks_) writer_.end();
        store_each([&](Expr row_index, Expr column) {
            return body_->element(sums_, row_index * columns + column);
        });
    }

    /// Columns beyond the last are the last one again: nobody reads their sums.
    void pack() {
        const Scalar k = arena_.variable(ScalarType::kI32), n = arena_.variable(ScalarType::kI32);
        const Expr i = writer_.for_("i", index(0), [&](Expr at) { return at < inner_count_; });
        writer_.bind(k, writer_.let("k", first_inner_ + i));
        const Expr j = writer_.for_("j", index(0), [&](Expr at) { return at < tile_.columns(); });
        writer_.bind(n, writer_.let("n", first_column_ + smaller(j, column_count_ - 1)));
        const Expr element = writer_.emit(element_of(1, k, n));
        writer_.assign(body_->element(panel_, i * tile_.columns() + j), element);
        writer_.end();
        writer_.end();
    }

    void multiply_tile(Expr row, bool in_rows) {
        const uint32_t lanes = tile_.lanes, vectors = tile_.vectors;
        const auto place = [&](uint32_t i, uint32_t j) {
            return (row + i) * tile_.columns() + int64_t{j} * lanes;
        };
        const Scalar k = arena_.variable(ScalarType::kI32);
        std::vector<Expr> sums;
        std::vector<Scalar> rows;
        for (uint32_t i = 0; i < tile_.rows; ++i) {
            // Rows beyond the last are the last one again.
            rows.push_back(arena_.variable(ScalarType::kI32));
            writer_.bind(rows[i], writer_.let("m" + std::to_string(i),
                                              first_row_ + smaller(row + i, row_count_ - 1)));
            for (uint32_t j = 0; j < vectors; ++j) {
                const std::string name = "sum" + std::to_string(i) + "_" + std::to_string(j);
                sums.push_back(
                    has_blocks_
                        ? writer_.load_lanes(name, sums_, place(i, j), lanes)
                        : writer_.declare_lanes(name, lanes, body_->constant(0, ScalarType::kF32)));
            }
        }
        std::vector<Scalar> columns;
        for (uint32_t j = 0; in_rows && j < vectors; ++j) {
            columns.push_back(arena_.variable(ScalarType::kI32));
            writer_.bind(columns[j],
                         writer_.let("n" + std::to_string(j), first_column_ + int64_t{j} * lanes));
        }
        const Expr i = writer_.for_("i", index(0), [&](Expr at) { return at < inner_count_; });
        writer_.bind(k, writer_.let("k", first_inner_ + i));
        std::vector<Expr> right;
        for (uint32_t j = 0; j < vectors; ++j) {
            const std::string name = "right" + std::to_string(j);
            if (in_rows) {
                const ScalarNode load = element_of(1, k, columns[j]).node();
                right.push_back(writer_.load_lanes(name, operand_(load.bits),
                                                   writer_.emit(Scalar{&arena_, load.a}), lanes));
            } else {
                right.push_back(writer_.load_lanes(
                    name, panel_, i * tile_.columns() + int64_t{j} * lanes, lanes));
            }
        }
        for (uint32_t r = 0; r < tile_.rows; ++r) {
            const Expr factor = writer_.emit(element_of(0, rows[r], k));
            for (uint32_t j = 0; j < vectors; ++j)
                writer_.multiply_add(sums[r * vectors + j], factor, right[j]);
        }
        writer_.end();
        for (uint32_t r = 0; r < tile_.rows; ++r)
            for (uint32_t j = 0; j < vectors; ++j)
                writer_.store_lanes(sums_, place(r, j), sums[r * vectors + j]);
    }

    void multiply_integers() {
        const Scalar m = arena_.variable(ScalarType::kI32), n = arena_.variable(ScalarType::kI32);
        const Scalar k = arena_.variable(ScalarType::kI32);
        store_each([&](Expr row, Expr column) {
            writer_.bind(m, writer_.let("m", first_row_ + row));
            writer_.bind(n, writer_.let("n", first_column_ + column));
            const Expr sum = writer_.declare("sum", sum_type_, body_->constant(0, sum_type_));
            const Expr inner = count_of(k_, *body_);
            writer_.bind(k, writer_.for_("k", index(0), [&](Expr at) { return at < inner; }));
            const Expr left = writer_.emit(element_of(0, m, k));
            const Expr right = writer_.emit(element_of(1, k, n));
            writer_.assign(sum, sum + left * right);
            writer_.end();
            return sum;
        });
    }

    /// Stores what follows from the product's elements of the workgroup.  sum_of: one, by its row and column.
    template <class SumOf>
    void store_each(SumOf sum_of) {
        const Expr row = writer_.for_("row", index(0), [&](Expr at) { return at < row_count_; });
        const Expr column =
            writer_.for_("column", index(0), [&](Expr at) { return at < column_count_; });
        const Scalar sum = arena_.variable(sum_type_);
        const Scalar m = arena_.variable(ScalarType::kI32), n = arena_.variable(ScalarType::kI32);
        writer_.bind(sum, writer_.let("total", sum_of(row, column)));
        writer_.bind(m, writer_.let("to_m", first_row_ + row));
        writer_.bind(n, writer_.let("to_n", first_column_ + column));
        expressions_.define(node_.outputs[0], sum);
        ScalarPlace place;
        // Behind a reshape these coordinates mean nothing; the linear index still does.
        const Shape& space = graph_.values[node_.outputs[0]].shape;
        if (std::all_of(group_.stores.begin(), group_.stores.end(),
                        [&](ValueId v) { return graph_.values[v].shape == space; })) {
            place.coords = coords_of(arena_, {batch_index_, {}}, batch_);
            place.coords->axis.push_back(m);
            place.coords->axis.push_back(n);
        }
        element_ = (batch_index_ * extent(arena_, m_) + m) * extent(arena_, n_) + n;
        place.linear = element_;
        const auto rows = static_cast<int64_t>(options_.rows_capacity);
        const auto below = [&](Dim extent) {
            return IndexRange{0, std::max<int64_t>(extent.at(rows) - 1, 0)};
        };
        KnownRanges known(arena_);
        known.set(m, below(m_));
        known.set(n, below(n_));
        known.set(batch_index_, below(batch_.element_count()));
        known.replace(element_, element_);
        std::vector<Expr> contents;
        for (ValueId v : group_.stores)
            contents.push_back(writer_.emit(known.simplified(expressions_.read(v, place))));
        for (size_t i = 0; i < contents.size(); ++i)
            writer_.store(operand_(group_.stores[i]), writer_.emit(element_), contents[i]);
        writer_.end();
        writer_.end();
    }

    const Graph& graph_;
    const Group& group_;
    const LowerOptions& options_;
    const Node& node_;
    std::shared_ptr<Body> body_;
    KernelWriter::Operand operand_;
    GroupExpressions expressions_;
    ScalarArena& arena_;
    KernelWriter writer_;
    CpuTile tile_;
    ScalarType sum_type_ = ScalarType::kF32;
    Shape batch_;
    Dim m_, n_, k_;
    int64_t block_rows_ = 1;
    bool has_blocks_ = false;  ///< of the inner extent
    Scalar batch_index_, element_;
    Expr first_row_, row_count_, first_column_, column_count_;
    Expr first_inner_, inner_count_;
    Expr panel_, sums_;
};

}  // namespace

KernelDraft cpu_matmul_kernel(const Graph& graph, const Group& group,
                              const std::vector<bool>& inlined, const LowerOptions& options) {
    return CpuMatmul(graph, group, inlined, options).run();
}

}  // namespace hearth
