// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Matrix products for CPUs, as bodies: tiled for caches and registers after Goto and van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication", 2008.
//
// A workgroup, which is one invocation, computes a block: some rows of some columns of tiles.  It packs panels of the
// right operand, [inner, columns of a tile], where that does not lie so in memory or its rows are far apart; then each
// tile's sums stay in registers while it goes along the inner extent: a number of the left operand for each row, times
// a row of the panel.  Sums of a long inner extent wait in an array between its blocks.  What follows the product is
// computed from an array of sums, element by element.
//
// The last tile of columns, where these are no multiple of the tile's, begins further to the left, so that it reads
// nothing beyond them; what two tiles compute is stored once.
//
// Few rows are not worth packing for.  Where both operands' inner elements lie side by side, those are the lanes of
// their tiles' sums, which are added up at the end.
//
// Where the right operand's inner elements lie side by side instead of its columns, as of weights [out, in], panels of
// few rows are turned: the product's rows are columns of tiles, so that the left operand is packed instead.
//
// Where an operand's place hangs on quotients of the inner index, as that of images and places in them, the index goes
// along lines, within which those quotients stay the same.
//
// The order of additions is that of the inner extent, or that of its lanes: it depends on nothing else.

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/matmul/matmul_body.hpp"
#include "compiler/codegen/matmul/matmul_writers.hpp"
#include "compiler/codegen/shared/extents.hpp"
#include "compiler/codegen/shared/fold.hpp"
#include "compiler/codegen/shared/group_access.hpp"
#include "compiler/codegen/shared/index_analysis.hpp"
#include "compiler/codegen/shared/known_ranges.hpp"
#include "compiler/codegen/shared/operator_kernel.hpp"
#include "compiler/ir/scalar_operands.hpp"
#include "core/device_model.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <array>
#include <numeric>

namespace hearth {

namespace {

constexpr int64_t kFarApart =
    512;  // elements from a row to the next: too far to read a tile's columns of each
constexpr int64_t kFewRows = 4;    // so few that packing takes longer than the product
constexpr int64_t kManyTiles = 3;  // of rows: panels that are read so often are worth packing

class CpuMatmul : OperatorKernel {
  public:
    CpuMatmul(const KernelTask& task, bool is_turned)
        : OperatorKernel(task),
          is_turned_(is_turned),
          tile_(device_model(options_.caps).tile),
          block_(device_model(options_.caps).block) {
        const MatmulExtents extents(graph_, node_);
        batch_ = extents.batch;
        m_ = is_turned ? extents.n : extents.m;
        n_ = is_turned ? extents.m : extents.n;
        k_ = extents.k;
        sum_type_ = scalar_type(graph_.values[node_.outputs[0]].dtype);
        const auto capacity = static_cast<int64_t>(options_.rows_capacity);
        const int64_t most_rows = std::max<int64_t>(m_.resolve(capacity), 1);
        const int64_t most_columns = std::max<int64_t>(n_.resolve(capacity), 1);
        batch_index_ = arena_.symbol(ScalarType::kI32);
        block_.inner = std::min(block_.inner, std::max<int64_t>(k_.resolve(capacity), 1));
        has_blocks_ = k_.resolve(capacity) > block_.inner;
        has_inner_lanes_ = !is_turned && most_rows <= kFewRows && are_inner_elements_in_rows();
        if (has_inner_lanes_) {
            tile_.rows = 1;
        } else {
            choose_line();
            choose_segments();
            choose_tile(most_rows, most_columns);
        }
        const int64_t tile_columns = has_inner_lanes_ ? inner_columns() : tile_.columns();
        block_.rows = rounded(std::min(most_rows, block_.rows), tile_.rows);
        block_.columns = rounded(std::min(most_columns, block_.columns), tile_columns);
        const auto jobs = [&] {
            return parts(most_rows, block_.rows) * parts(most_columns, block_.columns) *
                   batch_.element_count(capacity);
        };
        while (jobs() < device_model(options_.caps).compute_units && block_.columns > tile_columns)
            block_.columns = rounded(block_.columns / 2, tile_columns);
    }

    /// True if the product may as well be computed with its panels turned: both operands lie along the inner extent, at
    /// least within lines.
    bool can_be_turned() {
        if (sum_type_ != ScalarType::kF32 || has_little_memory(options_.caps.cpu_isa) ||
            m_.resolve(static_cast<int64_t>(options_.rows_capacity)) <= kFewRows ||
            has_inner_lanes_ || has_rows_of_tiles() || k_.is_batch)
            return false;
        const auto symbol = [&] { return arena_.symbol(ScalarType::kI32); };
        const Inner inner{.i = {}, .k = symbol(), .line = symbol(), .place = symbol()};
        const Scalar other = symbol(), along = line_ > 1 ? inner.place : inner.k;
        return std::ranges::all_of(
            std::array{left_element(other, inner.k), right_element(inner.k, other)},
            [&](Scalar element) {
                const ScalarNode node = simplified(element, inner).node();
                return is_f32_load(node) && step(node, along, 1) == 1 &&
                       !is_divided(Scalar{&arena_, node.a}, along);
            });
    }

    /// Estimated cycles of multiply-adds, two in each, of packing, and of results that are not stored in the order of
    /// their sums.
    double cycles() {
        constexpr double kPackedElement = 2, kTurnedResult = 2.5;
        const auto capacity = static_cast<int64_t>(options_.rows_capacity);
        const int64_t rows = m_.resolve(capacity), columns = n_.resolve(capacity);
        const int64_t tiles = parts(rows, tile_.rows) * parts(columns, tile_.columns());
        const double step = 0.5 * static_cast<double>(tiles * tile_.rows * tile_.vectors);
        const double packed = static_cast<double>(columns * parts(rows, block_.rows));
        const double results = is_turned_ ? static_cast<double>(rows * columns) : 0;
        return static_cast<double>(k_.resolve(capacity)) * (step + kPackedElement * packed) +
               kTurnedResult * results;
    }

    KernelDraft run() {
        place_workgroup();
        if (sum_type_ != ScalarType::kF32)
            multiply_plainly();
        else if (has_inner_lanes_)
            multiply_rows();
        else
            multiply();
        KernelDraft kernel = finish("matmul", 1, element_);
        kernel.grid[0] = {work_of(n_), static_cast<uint32_t>(block_.columns)};
        kernel.grid[1] = {work_of(m_), static_cast<uint32_t>(block_.rows)};
        kernel.grid[2] = {work_of(batch_.element_count()), 1};
        const auto rows = static_cast<int64_t>(options_.rows_capacity);
        kernel.flops = static_cast<uint64_t>(2 * m_.resolve(rows) * n_.resolve(rows) *
                                             k_.resolve(rows) * batch_.element_count(rows));
        return kernel;
    }

  private:
    static int64_t parts(int64_t count, int64_t each) { return (count + each - 1) / each; }
    static int64_t rounded(int64_t count, int64_t part) { return parts(count, part) * part; }

    /// Of few rows wider, so that enough sums do not wait for one another; but not where that much would be packed.
    void choose_tile(int64_t rows, int64_t columns) {
        constexpr uint32_t kMostVectors = 8;
        const CpuTile tile = tile_;
        const int64_t all = int64_t{tile.rows} * tile.vectors / std::min<int64_t>(rows, tile.rows);
        tile_.vectors = std::clamp(static_cast<uint32_t>(all), tile.vectors, kMostVectors);
        fit_tile(tile, rows, columns);
        if (tile_.vectors <= tile.vectors || (segments_.size() == 1 && has_rows_of_tiles())) return;
        tile_ = tile;
        fit_tile(tile, rows, columns);
    }

    /// No wider than the product, whose columns then lie in memory as the tile wants them, and of so many more rows; of
    /// which each tile has as many as the next.
    void fit_tile(const CpuTile& model, int64_t rows, int64_t columns) {
        constexpr uint32_t kLeastLanes = 4;
        const int64_t sums = int64_t{model.rows} * model.vectors;
        tile_.vectors = static_cast<uint32_t>(
            std::max<int64_t>(std::min<int64_t>(tile_.vectors, columns / tile_.lanes), 1));
        while (tile_.lanes > kLeastLanes && columns < tile_.lanes) tile_.lanes /= 2;
        tile_.rows = static_cast<uint32_t>(parts(rows, parts(rows, sums / tile_.vectors)));
    }

    Expr tiles(Dim count, int64_t each) { return (count_of(count, *body_) + (each - 1)) / each; }

    /// Whose rows and columns the workgroup computes.
    void place_workgroup() {
        body_->across = tiles(n_, block_.columns).id;
        body_->down = tiles(m_, block_.rows).id;
        first_column_ = w_.let("first_column", body_->workgroup(0) * block_.columns);
        first_row_ = w_.let("first_row", body_->workgroup(1) * block_.rows);
        column_count_ = w_.let("column_count",
                               lesser(index(block_.columns), count_of(n_, *body_) - first_column_));
        row_count_ =
            w_.let("row_count", lesser(index(block_.rows), count_of(m_, *body_) - first_row_));
        w_.bind(batch_index_, w_.let("batch", body_->workgroup(2)));
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

    /// The element that is a factor of row i of a tile, and that of its column j.
    Scalar left_element(Scalar i, Scalar k) {
        return is_turned_ ? element_of(1, k, i) : element_of(0, i, k);
    }
    Scalar right_element(Scalar k, Scalar j) {
        return is_turned_ ? element_of(0, j, k) : element_of(1, k, j);
    }

    ValueId behind_reshapes(ValueId value) const {
        while (expressions_.is_computed_here(value)) {
            const Node& maker = *graph_.producer(value);
            if (!maker.op->is_reshape) break;
            value = maker.inputs[0];
        }
        return value;
    }

    /// Whether f32 that follow each other along the inner extent do so in memory, in both operands.
    bool are_inner_elements_in_rows() {
        if (k_.is_batch || k_.count < kSumParts) return false;
        const Scalar k = arena_.symbol(ScalarType::kI32), other = arena_.symbol(ScalarType::kI32);
        return std::ranges::all_of(std::array{left_element(other, k), right_element(k, other)},
                                   [&](Scalar element) {
                                       const ScalarNode node = element.node();
                                       return is_f32_load(node) && step(node, k, 1) == 1 &&
                                              !is_divided(Scalar{&arena_, node.a}, k);
                                   });
    }
    bool is_f32_load(const ScalarNode& node) const {
        return node.op == ScalarOp::kLoad &&
               device_dtype(graph_.values[node.bits].dtype, options_.caps.narrow_storage()) ==
                   DType::kF32;
    }
    std::optional<int> step(const ScalarNode& load, Scalar variable, int64_t width) {
        return IndexAnalysis(arena_, variable, variable, width).step(Scalar{&arena_, load.a});
    }

    /// The longest part of the inner index, which it is a multiple of, in which quotients of it stay the same.
    void choose_line() {
        constexpr int64_t kLeast = 4;
        const Scalar k = arena_.symbol(ScalarType::kI32), other = arena_.symbol(ScalarType::kI32);
        const Scalar operands[] = {left_element(other, k), right_element(k, other)};
        const auto steps = quotient_steps(arena_, operands, k, kLeast);
        if (!steps || steps->empty()) return;
        int64_t line = k_.count;
        for (const int64_t step : *steps) line = std::gcd(line, step);
        int64_t part = std::min(line, block_.inner);
        while (part > 1 && line % part != 0) --part;
        if (part < kLeast) return;
        line_ = part;
        block_.inner = block_.inner / line_ * line_;
    }

    /// The inner index, in a loop that end_inner() closes.
    struct Inner {
        Expr i;  ///< in the block
        Scalar k, line, place;
    };
    Inner for_each_inner() { return for_each_inner(whole_inner()); }
    Inner for_each_inner(IndexRange segment) {
        Inner inner;
        inner.k = arena_.symbol(ScalarType::kI32);
        const IndexRange whole = whole_inner();
        if (segment.first > whole.first || segment.last < whole.last) {
            const Expr first = larger(index(segment.first) - first_inner_, index(0));
            const Expr end = lesser(index(segment.last + 1) - first_inner_, inner_count_);
            inner.i = w_.for_("i", first, [&](Expr at) { return at < end; });
        } else if (line_ == 1) {
            inner.i = w_.for_("i", index(0), [&](Expr at) { return at < inner_count_; });
        } else {
            const Expr count = w_.let("lines", inner_count_ / line_);
            const Expr before = w_.let("lines_before", first_inner_ / line_);
            const Expr line = w_.for_("line", index(0), [&](Expr at) { return at < count; });
            inner.line = arena_.symbol(ScalarType::kI32);
            w_.bind(inner.line, w_.let("line_index", before + line));
            const Expr place = w_.for_("p", index(0), [&](Expr at) { return at < line_; });
            inner.place = arena_.symbol(ScalarType::kI32);
            w_.bind(inner.place, place);
            inner.i = w_.let("i", line * line_ + place);
        }
        w_.bind(inner.k, w_.let("k", first_inner_ + inner.i));
        return inner;
    }
    void end_inner() {
        w_.end();
        if (line_ > 1) w_.end();
    }
    /// An expression of that index without what its range, or its lines, make needless.
    Scalar simplified(Scalar x, const Inner& inner) {
        KnownRanges known(arena_);
        if (line_ == 1) {
            known.set(inner.k, whole_inner());
            return known.simplified(x);
        }
        const auto rows = static_cast<int64_t>(options_.rows_capacity);
        known.set(inner.line, indices_of(k_.resolve(rows) / line_));
        known.set(inner.place, {0, line_ - 1});
        known.replace(inner.k, inner.line * arena_.index(line_) + inner.place);
        return known.simplified(x);
    }

    IndexRange whole_inner() const { return below(k_); }
    /// The places of an extent.
    IndexRange below(Dim extent) const {
        return indices_of(extent.resolve(static_cast<int64_t>(options_.rows_capacity)));
    }

    /// The right operand's element, of which `inner` is within the segment.
    Scalar right_element(const Inner& inner, Scalar n, IndexRange segment) {
        const Scalar element = right_element(inner.k, n);
        if (line_ > 1) return inner.line.arena != nullptr ? simplified(element, inner) : element;
        return known_right(inner.k, n, segment).simplified(element);
    }
    KnownRanges known_right(Scalar k, Scalar n, IndexRange segment) const {
        KnownRanges known(arena_);
        known.set(k, segment);
        known.set(n, below(n_));
        return known;
    }

    /// Within each segment of the inner extent, the right operand is one tensor, as of those of a concatenation.
    void choose_segments() {
        segments_ = {whole_inner()};
        if (line_ > 1) return;
        const Scalar k = arena_.symbol(ScalarType::kI32), n = arena_.symbol(ScalarType::kI32);
        segments_ = split(whole_inner(),
                          known_right(k, n, whole_inner()).thresholds(right_element(k, n), k));
    }

    /// Whether the right operand lies in memory as f32, the columns of each tile side by side, also of one that does
    /// not begin at a multiple of its columns.
    bool is_in_rows() {
        const int64_t columns = tile_.columns();
        if (n_.is_batch || n_.count < columns) return false;
        // Of places that are multiples of 1 none is known to stay clear of a quotient's next step.
        const int64_t width = n_.count % columns == 0 ? columns : 1;
        return std::ranges::all_of(segments_, [&](IndexRange segment) {
            const Inner inner{.k = arena_.symbol(ScalarType::kI32)};
            const Scalar n = arena_.symbol(ScalarType::kI32);
            const ScalarNode node = right_element(inner, n, segment).node();
            return is_f32_load(node) && step(node, n, columns) == 1 &&
                   (width > 1 || !is_divided(Scalar{&arena_, node.a}, n));
        });
    }

    /// The same, and no tile shares a column with another where sums wait between blocks: those are one tile's alone.
    bool has_rows_of_tiles() {
        return is_in_rows() && (!has_blocks_ || n_.count % tile_.columns() == 0);
    }

    /// Whether a quotient or remainder in x depends on the variable.
    bool is_divided(Scalar x, Scalar variable) {
        const Scalar only[] = {x};
        std::vector<bool> depends(arena_.size());
        depends[variable.id] = true;
        for (const Scalar part : parts_of(arena_, only)) {  // operands first
            const ScalarNode& node = part.node();
            if (part.id == variable.id || operand_count(node.op) < 2) continue;
            depends[part.id] = depends[node.a] || depends[node.b];
            const bool divides = node.op == ScalarOp::kDiv || node.op == ScalarOp::kMod;
            if (divides && depends[part.id]) return true;
        }
        return false;
    }

    void multiply() {
        in_rows_ = has_rows_of_tiles();
        margin_ = in_rows_ && n_.count % tile_.columns() != 0 ? tile_.columns() : 0;
        is_packed_ = !in_rows_ || segments_.size() > 1 ||
                     (n_.count > kFarApart && block_.rows > kManyTiles * tile_.rows);
        if (is_packed_)
            panel_ = w_.declare_array("panel", ScalarType::kF32,
                                      static_cast<uint32_t>(block_.inner * block_.columns));
        const int64_t rows = keeps_block() ? block_.rows : tile_.rows;
        sums_ =
            w_.declare_array("sums", ScalarType::kF32, static_cast<uint32_t>(rows * sums_length()));
        const Expr inner = count_of(k_, *body_);
        first_inner_ = index(0);
        inner_count_ = inner;
        if (has_blocks_) {
            const Expr i =
                w_.for_("i", index(0), [&](Expr at) { return at < rows * sums_length(); });
            w_.assign(body_->element(sums_, i), body_->constant(0, ScalarType::kF32));
            w_.end();
            first_inner_ = w_.for_(
                "first_inner", index(0), [&](Expr at) { return at < inner; }, index(block_.inner));
            inner_count_ = w_.let("inner_count", lesser(index(block_.inner), inner - first_inner_));
        }
        if (is_packed_) pack();
        const Expr row = w_.for_(
            "row", index(0), [&](Expr at) { return at < row_count_; }, index(tile_.rows));
        multiply_tile(row, for_each_tile());
        w_.end();
        if (!keeps_block())
            store_sums(row, w_.let("tile_rows", lesser(index(tile_.rows), row_count_ - row)));
        w_.end();
        if (has_blocks_) w_.end();
        if (keeps_block()) store_sums(index(0), row_count_);
    }

    /// True if all of the block's sums are in memory before the first result is stored.
    bool keeps_block() const { return has_blocks_ || is_turned_; }

    /// Of a row of sums: ahead of the block's columns there is room for what the last tile has more.
    int64_t sums_length() const { return margin_ + block_.columns; }

    /// Opens a loop over the block's tiles of columns.  Returns where the tile begins in the block.
    Expr for_each_tile() {
        return w_.for_(
            "column", index(0), [&](Expr at) { return at < column_count_; },
            index(tile_.columns()));
    }
    /// The tile's first column of all.
    Expr first_of(Expr column) {
        const Expr first = first_column_ + column;
        return w_.let("first_of_tile",
                      margin_ == 0 ? first : lesser(first, index(n_.count - margin_)));
    }
    /// Where that tile's panel begins: a panel for each tile, each [inner, columns].
    Expr panel_of(Expr column) { return w_.let("panel_at", column * block_.inner); }

    void pack() {
        for (const IndexRange segment : segments_)
            in_rows_ ? pack_rows(segment) : pack_elements(segment);
    }

    /// Row by row, of which all of the block's columns lie side by side.
    void pack_rows(IndexRange segment) {
        const Inner inner = for_each_inner(segment);
        const Expr column = for_each_tile();
        const Expr to = w_.let("to", column * block_.inner + inner.i * int64_t{tile_.columns()});
        const Expr first = first_of(column);
        for (uint32_t j = 0; j < tile_.vectors; ++j)
            w_.store_lanes(panel_, to + int64_t{j} * tile_.lanes,
                           load_right(j, inner, first, segment));
        w_.end();
        end_inner();
    }

    /// Panel by panel, as columns may be far apart.  Those beyond the last are the last one again: nobody reads their
    /// sums.
    void pack_elements(IndexRange segment) {
        const int64_t columns = tile_.columns();
        const Expr column = for_each_tile();
        const Expr panel = panel_of(column);
        const Inner inner = for_each_inner(segment);
        const Scalar n = arena_.symbol(ScalarType::kI32);
        const Scalar element = right_element(inner, n, segment);
        const Expr to = panel + inner.i * columns;
        if (const int64_t run = column_run(element, n); run > 1) {
            pack_runs(element, n, run, first_column_ + column, to);
        } else {
            const Expr j = w_.for_("j", index(0), [&](Expr at) { return at < columns; });
            const Expr in_block =
                has_whole_tiles() ? column + j : lesser(column + j, column_count_ - 1);
            w_.bind(n, w_.let("n", first_column_ + in_block));
            w_.assign(body_->element(panel_, to + j), w_.emit(element));
            w_.end();
        }
        end_inner();
        w_.end();
    }

    bool has_whole_tiles() const { return !n_.is_batch && n_.count % tile_.columns() == 0; }

    /// The number of columns in which quotients of the column's index stay the same, such as those
    /// whose elements are packed in one word; 1 if the element has none.
    int64_t column_run(Scalar element, Scalar n) {
        constexpr int64_t kLeast = 4;
        if (!has_whole_tiles()) return 1;
        const auto steps = quotient_steps(arena_, {&element, 1}, n, kLeast);
        if (!steps || steps->empty()) return 1;
        int64_t run = tile_.columns();
        for (const int64_t step : *steps) run = std::gcd(run, step);
        return run < kLeast ? 1 : run;
    }

    /// Packs the elements of a tile's columns, run by run. first: of the tile's columns, of all.
    void pack_runs(Scalar element, Scalar n, int64_t run, Expr first, Expr to) {
        const int64_t runs = tile_.columns() / run;
        const Expr r = w_.for_("run", index(0), [&](Expr at) { return at < runs; });
        const Scalar run_index = bound("run_index", first / run + r);
        const Expr j = w_.for_("j", index(0), [&](Expr at) { return at < run; });
        const Scalar place = arena_.symbol(ScalarType::kI32);
        w_.bind(place, j);
        KnownRanges known(arena_);
        known.set(run_index, indices_of(n_.count / run));
        known.set(place, {0, run - 1});
        known.replace(n, run_index * arena_.index(run) + place);
        const Expr content = w_.emit(known.simplified(element));
        w_.assign(body_->element(panel_, to + r * run + j), content);
        w_.end();
        w_.end();
    }

    /// Vector j of the tile's columns of the right operand, in memory.
    Expr load_right(uint32_t j, const Inner& inner, Expr first, IndexRange segment) {
        const std::string name = std::to_string(j);
        const Scalar n = bound("n" + name, first + int64_t{j} * tile_.lanes);
        const ScalarNode load = right_element(inner, n, segment).node();
        return w_.load_lanes("right" + name, operand_(load.bits), w_.emit(Scalar{&arena_, load.a}),
                             tile_.lanes);
    }

    /// row, column: where the tile begins in the block.
    void multiply_tile(Expr row, Expr column) {
        const uint32_t lanes = tile_.lanes, vectors = tile_.vectors;
        const Expr first = first_of(column);
        Expr at = column;
        if (margin_ > 0) at = w_.let("at", first - first_column_ + margin_);
        const auto place = [&](uint32_t i, uint32_t j) {
            const Expr in_column = at + int64_t{j} * lanes;
            return keeps_block() ? (row + i) * sums_length() + in_column
                                 : in_column + i * sums_length();
        };
        std::vector<Expr> sums;
        std::vector<Scalar> rows;
        for (uint32_t i = 0; i < tile_.rows; ++i) {
            // Rows beyond the last are the last one again.
            rows.push_back(arena_.symbol(ScalarType::kI32));
            w_.bind(rows[i],
                    w_.let("m" + std::to_string(i), first_row_ + lesser(row + i, row_count_ - 1)));
            for (uint32_t j = 0; j < vectors; ++j) {
                const std::string name = "sum" + std::to_string(i) + "_" + std::to_string(j);
                sums.push_back(
                    has_blocks_
                        ? w_.load_lanes(name, sums_, place(i, j), lanes)
                        : w_.declare_lanes(name, lanes, body_->constant(0, ScalarType::kF32)));
            }
        }
        Expr panel;
        if (is_packed_) panel = panel_of(column);
        const Inner inner = for_each_inner();
        std::vector<Expr> right;
        for (uint32_t j = 0; j < vectors; ++j)
            right.push_back(
                is_packed_
                    ? w_.load_lanes("right" + std::to_string(j), panel_,
                                    panel + inner.i * tile_.columns() + int64_t{j} * lanes, lanes)
                    : load_right(j, inner, first, whole_inner()));
        for (uint32_t r = 0; r < tile_.rows; ++r) {
            const Expr factor = w_.emit(simplified(left_element(rows[r], inner.k), inner));
            for (uint32_t j = 0; j < vectors; ++j)
                w_.multiply_add(sums[r * vectors + j], factor, right[j]);
        }
        end_inner();
        for (uint32_t r = 0; r < tile_.rows; ++r)
            for (uint32_t j = 0; j < vectors; ++j)
                w_.store_lanes(sums_, place(r, j), sums[r * vectors + j]);
    }

    /// Tiles of one row, each of whose sums has kSumParts parts: so many on all CPUs, for the same bits.
    void multiply_rows() {
        const int64_t lanes = tile_.lanes, inner = k_.count;
        const int64_t whole = inner / kSumParts * kSumParts, vectors = kSumParts / lanes;
        const auto width = static_cast<uint32_t>(lanes);
        const Expr zero = body_->constant(0, ScalarType::kF32);
        sums_ = w_.declare_array("sums", ScalarType::kF32,
                                 static_cast<uint32_t>(block_.rows * block_.columns));
        const Expr parts = w_.declare_array("parts", ScalarType::kF32,
                                            static_cast<uint32_t>(inner_columns() * kSumParts));
        const Expr row = w_.for_("row", index(0), [&](Expr at) { return at < row_count_; });
        const Scalar m = bound("m", first_row_ + row);
        const Expr column = w_.for_(
            "column", index(0), [&](Expr at) { return at < column_count_; },
            index(inner_columns()));
        // Columns beyond the last are the last one again.
        const auto place_column = [&](const std::string& name, Expr c) {
            return bound(name, first_column_ + lesser(column + c, column_count_ - 1));
        };
        std::vector<Scalar> columns;
        std::vector<Expr> sums;
        for (int64_t c = 0; c < inner_columns(); ++c) {
            columns.push_back(place_column("n" + std::to_string(c), index(c)));
            for (int64_t v = 0; v < vectors; ++v)
                sums.push_back(w_.declare_lanes("sum" + std::to_string(sums.size()), width, zero));
        }
        const Expr first = w_.for_(
            "first", index(0), [&](Expr at) { return at < whole; }, index(kSumParts));
        for (int64_t v = 0; v < vectors; ++v) {
            const std::string name = std::to_string(v);
            const Scalar k = bound("k" + name, first + v * lanes);
            const auto load = [&](const std::string& side, Scalar element) {
                const ScalarNode node = element.node();
                return w_.load_lanes(side + name, operand_(node.bits),
                                     w_.emit(Scalar{&arena_, node.a}), width);
            };
            const Expr left = load("left", element_of(0, m, k));
            for (size_t c = 0; c < columns.size(); ++c)
                w_.multiply_add(
                    sums[c * vectors + v], left,
                    load("right" + std::to_string(c) + "_", element_of(1, k, columns[c])));
        }
        w_.end();
        for (size_t i = 0; i < sums.size(); ++i)
            w_.store_lanes(parts, index(static_cast<int64_t>(i) * lanes), sums[i]);
        const Expr c = w_.for_("c", index(0), [&](Expr at) { return at < inner_columns(); });
        const Expr total = w_.declare("total", ScalarType::kF32, zero);
        const Expr lane = w_.for_("lane", index(0), [&](Expr at) { return at < kSumParts; });
        w_.assign(total, total + body_->element(parts, c * kSumParts + lane));
        w_.end();
        if (whole < inner) {
            const Scalar n = place_column("n", c);
            const Scalar k = arena_.symbol(ScalarType::kI32);
            w_.bind(k, w_.for_("k", index(whole), [&](Expr at) { return at < inner; }));
            const Expr factor = w_.emit(element_of(0, m, k));
            w_.assign(total, total + factor * w_.emit(element_of(1, k, n)));
            w_.end();
        }
        w_.assign(body_->element(sums_, row * block_.columns + (column + c)), total);
        w_.end();
        w_.end();
        w_.end();
        store_sums(index(0), row_count_);
    }

    /// Of a tile whose lanes go along the inner extent: sums that do not wait for one another.
    int64_t inner_columns() const { return 8 * tile_.lanes / kSumParts; }

    /// Stores what follows from rows of the block whose sums are all there; those of the first one begin the array.
    void store_sums(Expr first, Expr count) {
        store_each(first, count, [&](Expr row, Expr column) {
            return body_->element(sums_, row * sums_length() + column + margin_);
        });
    }

    /// Of integers and doubles.
    void multiply_plainly() {
        const Scalar m = arena_.symbol(ScalarType::kI32), n = arena_.symbol(ScalarType::kI32);
        const Scalar k = arena_.symbol(ScalarType::kI32);
        store_each(index(0), row_count_, [&](Expr row, Expr column) {
            w_.bind(m, w_.let("m", first_row_ + row));
            w_.bind(n, w_.let("n", first_column_ + column));
            const Expr sum = w_.declare("sum", sum_type_, body_->constant(0, sum_type_));
            const Expr inner = count_of(k_, *body_);
            w_.bind(k, w_.for_("k", index(0), [&](Expr at) { return at < inner; }));
            const Expr left = w_.emit(element_of(0, m, k));
            const Expr right = w_.emit(element_of(1, k, n));
            w_.assign(sum, sum + left * right);
            w_.end();
            return sum;
        });
    }

    /// Stores what follows from the product's elements of `count` rows of the block.  sum_of: one, by its row among
    /// these and by its column in the block.
    template <class SumOf>
    void store_each(Expr first, Expr count, SumOf sum_of) {
        const auto each_row = [&] {
            return w_.for_("r", index(0), [&](Expr at) { return at < count; });
        };
        const auto each_column = [&] {
            return w_.for_("c", index(0), [&](Expr at) { return at < column_count_; });
        };
        // Results side by side in the inner loop.
        Expr row, column;
        if (is_turned_) column = each_column();
        row = each_row();
        if (!is_turned_) column = each_column();
        const Scalar sum = arena_.symbol(sum_type_);
        const Scalar m = arena_.symbol(ScalarType::kI32), n = arena_.symbol(ScalarType::kI32);
        w_.bind(sum, w_.let("total", sum_of(row, column)));
        const Expr to_row = first_row_ + first + row, to_column = first_column_ + column;
        w_.bind(m, w_.let("to_m", is_turned_ ? to_column : to_row));
        w_.bind(n, w_.let("to_n", is_turned_ ? to_row : to_column));
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
        const Dim rows = is_turned_ ? n_ : m_, columns = is_turned_ ? m_ : n_;
        element_ = (batch_index_ * extent_of(arena_, rows) + m) * extent_of(arena_, columns) + n;
        place.linear = element_;
        KnownRanges known(arena_);
        known.set(m, below(rows));
        known.set(n, below(columns));
        known.set(batch_index_, below(batch_.element_count()));
        known.replace(element_, element_);
        std::vector<Expr> contents;
        for (ValueId v : group_.stores)
            contents.push_back(w_.emit(known.simplified(expressions_.read(v, place))));
        for (size_t i = 0; i < contents.size(); ++i)
            w_.store(operand_(group_.stores[i]), w_.emit(element_), contents[i]);
        w_.end();
        w_.end();
    }

    const bool is_turned_;  ///< rows and columns of tiles are columns and rows of the product
    CpuTile tile_;
    ScalarType sum_type_ = ScalarType::kF32;
    Shape batch_;
    Dim m_, n_, k_;  ///< rows and columns of tiles, inner extent
    CpuBlock block_;
    bool has_blocks_ = false;           ///< of the inner extent
    int64_t line_ = 1;                  ///< see choose_line()
    std::vector<IndexRange> segments_;  ///< see choose_segments()
    bool in_rows_ = false;              ///< see has_rows_of_tiles()
    bool has_inner_lanes_ = false;      ///< see multiply_rows()
    bool is_packed_ = false;            ///< the right operand, as panels
    int64_t margin_ = 0;                ///< see sums_length()
    Scalar batch_index_, element_;
    Expr first_row_, row_count_, first_column_, column_count_;
    Expr first_inner_, inner_count_;
    Expr panel_, sums_;
};

}  // namespace

std::vector<ProductLayout> cpu_product_layouts(const KernelTask& task) {
    CpuMatmul plain(task, false);
    std::vector<ProductLayout> layouts{{false, plain.cycles()}};
    if (plain.can_be_turned()) layouts.push_back({true, CpuMatmul(task, true).cycles()});
    return layouts;
}

KernelDraft cpu_matmul_kernel(const KernelTask& task, const ProductLayout& layout) {
    return CpuMatmul(task, layout.is_turned).run();
}

}  // namespace hearth
