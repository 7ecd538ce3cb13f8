// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes a row program on matrix cores (row_program.hpp) as GLSL: the frame in row_matrix_program.cpp,
// what stages read and store in row_matrix_expressions.cpp, the weights' way into shared memory in
// row_matrix_weights.cpp, and the stages by kind in row_matrix_elements.cpp, row_matrices.cpp,
// row_registers.cpp and row_matrix_sums.cpp.
//
// This is what is left of writing text: a body (kernel/body.hpp) has no matrices yet.  Row programs
// without them are bodies (row_kernel.cpp), whose stages (row_stages.hpp) do the same as those here
// that need no matrices.

#pragma once

#include "codegen/group_kernels.hpp"
#include "codegen/row_frame.hpp"
#include "codegen/row_plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace hearth {

inline std::string text(int64_t number) {
    return std::to_string(number);
}

// Registers of a thread that sums over rows may take; beyond, sums live in their buffers.
inline constexpr int kMaxKeptFloats = 96;

/// What a stage does, for whoever reads the kernel (row_stages.hpp).
std::string label_of(const Graph& graph, const RowPlan& plan, const RowStage& stage);

class MatrixRowWriter {
  public:
    MatrixRowWriter(const Graph& graph, const RowRegion& region, RowPlan plan,
                    const std::vector<bool>& inlined, const LowerOptions& options)
        : graph_(graph),
          region_(region),
          plan_(std::move(plan)),
          inlined_(inlined),
          options_(options),
          readers_(readers_of(graph)),
          leaves_(leaves_graph(graph)),
          is_software_(is_software(options.caps)),
          is_made_(graph.values.size(), false) {
        for (const RowStage& stage : plan_.stages)
            for (size_t i = 0; stage.group != nullptr && i < stage.group->numbers.size(); ++i)
                if (std::find(numbers_.begin(), numbers_.end(), stage.group->numbers[i]) ==
                    numbers_.end())
                    numbers_.push_back(stage.group->numbers[i]);
        for (const RowStage& stage : plan_.stages)
            for (size_t i = 0; stage.group != nullptr && i < stage.group->stores.size(); ++i)
                is_made_[stage.group->stores[i]] = true;
    }

    Result<GroupKernel> run();

  private:
    // The frame:

    /// Devices with matrix cores convert to f16 by one instruction, which rounds to nearest even; so
    /// do the matrices' own conversions.
    std::string_view round_f16() const { return "round_to_half"; }

    /// Shared memory.  Matrices can be loaded from integers in steps of 16 bytes, whatever the
    /// integers stand for.
    std::string pool() const;
    GridAxis grid() const;

    /// Tiles of a workgroup at capacity, where nothing is summed over rows: enough workgroups for a
    /// large GPU first, then few, as each loads the weights.
    int tiles_each() const;
    std::string tile_loop(const std::string& levels) const;
    std::string write_level(uint32_t level);
    std::string load_vectors();
    std::string load_positions() const;

    /// Work of one stage begins with the thread after the last one that the stage before used, so
    /// that small stages of one level run side by side.
    std::string lane_line(int& lane, int tasks) const;
    /// The head of a loop over tasks "e"; where no thread has two of them, one that compilers see to
    /// be none, so that they begin loads of one stage before those of another have come.
    std::string each_task(int tasks) const;
    std::string write_stage(const RowStage& stage, int& lane);

    // Expressions:

    /// The expressions of one stage, with what other stages made read from shared memory.
    struct Scope {
        Group nothing;
        GroupExpressions expressions;
        ScalarArena& arena;
        GlslWriter writer;
        Scalar row, local;
        /// Within store_eight: the elements' coordinate, and what it has read of values by eight
        /// neighbours at once.
        std::optional<Scalar> eight;
        std::map<ValueId, Scalar> eights;
        std::string eight_reads;
        /// By matrices instead: `eight` is any element's coordinate.
        bool by_matrix = false;
        bool is_one_wide = false;   ///< so that coordinates along the row are 0
        bool needs_places = false;  ///< something cannot be read so

        Scope(MatrixRowWriter& program, const RowStage& stage)
            : expressions(program.graph_, stage.group != nullptr ? *stage.group : nothing,
                          program.inlined_),
              arena(expressions.arena()),
              writer(arena, program.kernel_.buffers, program.round_f16()),
              row(arena.variable(ScalarType::kI32)),
              local(arena.variable(ScalarType::kI32)) {
            expressions.set_resident(
                [this, &program, level = stage.level](ValueId v, const ScalarPlace& place) {
                    return program.resident(*this, level, v, place);
                });
        }

        /// Within the current scope of the text, "r" is the tile's row.
        void open_row() {
            writer.line("const int row = min(first + r, last_row);");
            writer.bind(local, "r");
            writer.bind(row, "row");
        }

        /// The place in `shape` of element `inner` of the row.
        ScalarPlace place(const Shape& shape, Scalar inner) {
            const Coords<Scalar> rest = coords_of(arena, {inner, {}}, without_rows(shape));
            ScalarPlace at;
            at.coords.emplace();
            at.coords->axis.push_back(row);
            for (int i = 0; i < rest.rank(); ++i) at.coords->axis.push_back(rest[i]);
            return at;
        }
    };
    std::optional<Scalar> resident(Scope& scope, uint32_t level, ValueId v,
                                   const ScalarPlace& place);

    /// Eight neighbours of a value as "near[8]", read at once, where its element at `place` is the
    /// row's of the same place.
    std::optional<Scalar> read_by_eight(Scope& scope, uint32_t level, ValueId v,
                                        const ScalarPlace& place);

    /// Statements that fill "near[8]" of the value; empty if it cannot be read so.
    std::string eight_source(uint32_t level, ValueId v, bool has_row);

    /// The name of a value's buffer as vec4s.
    std::string by_four(ValueId v);
    void note_store(ValueId v);
    bool is_read_outside(ValueId v) const;
    int row_width(ValueId v) const;

    /// Stores `content` as element `inner` (text) of row "r" wherever the value is needed.
    void store(Scope& scope, ValueId v, const std::string& content, const std::string& inner,
               const std::string& inside = "");
    void store_shared(Scope& scope, ValueId v, const std::string& content, const std::string& inner,
                      const std::string& inside);
    void store_outside(Scope& scope, ValueId v, const std::string& content,
                       const std::string& inner, const std::string& inside);

    /// Works out all values, then stores them, at element `inner` of row "r".
    void store_row(Scope& scope, std::span<const ValueId> values, Scalar inner,
                   const std::string& inner_text, const std::string& inside = "");
    bool is_half_tile(ValueId v) const;

    /// Whether eight neighbours of the value go to shared memory at once.
    bool is_kept_by_eight(ValueId v) const;

    /// Whether eight neighbours of the value can be stored outside as one or two vectors.
    bool is_stored_by_eight(ValueId v) const;

    /// Works out eight neighbours of each value, the first of them "n0", of row "r", and stores
    /// them.  sum, sum_text: of a product, its result at "n0 + t".  Rows beyond the last are zeros
    /// where products read them: they are summed over with the others.
    void store_eight(Scope& scope, std::span<const ValueId> values, int width,
                     std::optional<Scalar> sum = {}, const std::string& sum_text = "");
    void store_eight_of(Scope& scope, ValueId v);
    static std::string four_of(const std::string& eight, int half);

    /// The text of a scope in which store_eight was called once.
    static std::string eight_text(Scope& scope);

    // Fills and element-wise:

    std::string write_fill(const RowStage& stage, int& lane);

    /// Whether the value is floats in a buffer, not an expression.
    bool is_plain(ValueId v) const { return is_in_buffer(v, DType::kF32); }
    bool is_plain_half(ValueId v) const { return is_in_buffer(v, DType::kF16); }
    bool is_in_buffer(ValueId v, DType dtype) const;
    std::string fill_by_eight(const RowTile& tile, int& lane);
    std::string write_map(const RowStage& stage, int& lane);
    std::string write_elements(const RowStage& stage, std::span<const ValueId> values, int width,
                               int padded, int& lane);

    // Reductions:

    std::string write_rowwise(const RowStage& stage);

    /// Folds the numbers of neighbouring threads and gives each of them the result.
    void fold_lanes(GlslWriter& writer, Fold fold, ScalarType type, const std::string& sum,
                    int lanes) const;
    template <class OpenLine>
    void store_rowwise(Scope& scope, const Group& group, int outer_count, Scalar o,
                       const OpenLine& open_line);

    // Products:

    /// How the lines of a product's weights come into shared memory: quad by quad, each thread a
    /// fixed number of them.
    struct WeightCopy {
        std::string at;     ///< declares line, quad, i and j of quad "e"
        std::string value;  ///< an expression: four elements
        std::string to;
        int quads = 0;
    };

    /// Of f16, eight elements at a time.  All that products may read is filled.  from: the first of the inner
    /// extent, as text.
    WeightCopy weight_copy(size_t index, const std::string& from);

    /// The floats in a buffer that an expression rounds to f16, and does nothing else to; or kNone.
    ValueId rounded_from(ValueId v) const;

    /// Copies weights; `from` is the first of the inner extent.
    std::string load_weight(size_t index, const std::string& from);

    /// The same in two halves with registers in between, so that other work hides the wait.
    std::string fetch_weight(size_t index);
    std::string put_weight(size_t index);

    /// Whether registers may hold weights on their way.
    bool can_hold(size_t index) const;

    /// A function that gives an element of the weights.
    std::string weight_function(size_t index, int i_end, int j_end);

    /// The loop over chunks of a product's weights that come into shared memory one by one.
    std::string open_chunks(size_t weight);
    static std::string close_tasks() { return "                }\n            }\n"; }

    // On matrix cores:

    /// Sizes of one matrix product.
    int matrix_m() const { return static_cast<int>(options_.caps.matrix.m); }
    int matrix_n() const { return static_cast<int>(options_.caps.matrix.n); }
    int matrix_k() const { return static_cast<int>(options_.caps.matrix.k); }

    /// As lane_line, for subgroups.
    std::string first_subgroup(int& lane, int tasks) const;

    /// Opens the loop over a subgroup's tasks, as many to a row as there are `columns`; ends with
    /// close_tasks().  with_barriers: every subgroup comes by, as often as any other, and does what
    /// is behind mine() if it has a task; some drivers make barriers of a subgroup the workgroup's.
    std::string open_matrix_tasks(int tasks, int columns, const char* names,
                                  bool with_barriers = false) const;
    /// What is always true should not look like a branch around matrices, which drivers shun.
    std::string mine(int tasks) const;
    std::string write_matrix_product(const RowStage& stage, int& lane);

    /// Stores sums in the subgroup's own place in shared memory, where it is known which is which.
    std::string spread(const std::string& sums, int tasks) const;
    /// Line i of it, as an index of floats.
    std::string spread_line(const std::string& i) const;
    std::optional<std::string> whole_epilogue(const RowStage& stage, const std::string& sum,
                                              int lines);
    std::string matrix_epilogue(const RowStage& stage, const RowWeight& w, int lines);
    int matrix_gradient_columns(const RowStage& stage) const;
    int matrix_gradient_tasks(const RowStage& stage) const;
    std::string write_matrix_gradient(const RowStage& stage, int& lane);
    std::string store_matrix_gradient(const RowStage& stage, const std::string& sums);

    /// Adds to `sums` the subgroup's matrices of a^T b, "own" being its number.
    std::string sum_gradient(const RowTile& a, const RowTile& b, const std::string& sums, int tasks,
                             int columns) const;

    // With rows in registers:

    std::string write_tile();
    std::string write_registers_tile();
    std::string load_vector(const RowVector& vector, const std::string& matrix) const;
    const RowVector* bias_of(const RowStage& product) const;
    ValueId sum_with_bias(const RowStage& product) const;
    /// Those that lie in shared memory before the first layer.
    std::vector<size_t> forward_weights() const;
    std::string stage_weights(std::span<const size_t> weights);
    std::string first_back_weight();
    std::string write_step(const RowStep& step, bool stays);
    std::string matrices_of(ValueId v) const;
    int matrix_columns(ValueId v) const;
    std::string open_matrices(int columns) const;
    std::string near_matrix(uint32_t level, ValueId v);
    bool is_in_registers(ValueId v) const;
    std::string tile_block(const RowTile& tile) const;
    std::string matrix_type(ValueId v) const;
    std::optional<std::string> matrix_text(const RowStage& stage, std::span<const ValueId> values,
                                           const std::string& sum);
    std::optional<std::string> store_matrices(std::span<const ValueId> values);
    std::string load_block(ValueId v, const std::string& name);
    std::string load_whole(ValueId v, const std::string& name);
    std::string load_elements(ValueId v, const std::string& name);
    std::string block_row() const;
    std::string positions(const std::string& name, bool is_down) const;
    std::string rows_left() const;
    bool slides() const { return plan_.in_registers && plan_.parts != 0; }
    std::string block_window() const;
    std::string apart() const;
    std::string mask_columns(const std::string& name, int width) const;
    std::string mask_rows(const std::string& name) const;
    std::string mask_summed(ValueId v);
    bool vanishes(const Scope& scope, uint32_t id, std::span<const Scalar> zeros) const;
    bool is_summed(ValueId v) const;
    std::string store_block(ValueId v, const std::string& matrix);
    std::optional<Scalar> matrix_element(Scope& scope, uint32_t level, ValueId v,
                                         const ScalarPlace& place);
    std::string write_matrices(const RowStage& stage, std::span<const ValueId> values,
                               const std::string& sums, const std::string& and_then = "");
    std::string write_register_stages(size_t first, size_t last);
    std::string write_register_stage(const RowStage& stage, const std::string& and_then);
    std::string register_sum_text(const RowStage& stage);
    std::string load_rows(ValueId v);
    std::string write_register_product(const RowStage& stage, const std::string& and_then);
    std::string left_factors(const RowTile& x) const;
    std::string write_register_sum(const RowStage& stage);
    std::string share_factors(const RowStage& gradient);
    std::string share_factor(const RowTile& tile, int place);
    std::string write_register_gradient(const RowStage& stage);
    std::string write_register_column_sum(const RowStage& gradient, const RowStage& stage);

    // Sums over rows:

    /// Decides which gradients stay in registers from tile to tile.
    void choose_kept();
    std::string write_row_sum(const RowStage& stage, int& lane);

    /// Whether a sum over rows alone can be taken eight columns at a time, in turns of threads whose
    /// sums at the end find room where the tiles were.
    bool sums_by_eight(const RowStage& stage, const RowTile& tile) const;
    bool sums_rows_alone(const RowStage& stage) const;

    /// Whether the workgroup has no other rows than a tile's few, in which lines beyond the last are
    /// zeros.
    bool sums_only_tile(const RowStage& stage, const RowTile& tile) const;
    /// A thread adds up two columns.
    std::string write_tile_sum(const RowTile& tile, ValueId v, int& lane);

    std::string write_sum_by_eight(const RowTile& tile, ValueId v, int& lane);
    void store_sliced_sum(ValueId v, const std::string& name, int columns, int slices,
                          const std::string& lane_text);
    void store_row_sum(ValueId v, const std::string& name, int columns, int rounds, bool in_turns,
                       const std::string& lane_text);
    std::string write_sums() const { return sums_; }

    /// How far from the margin a stage's statements are.
    static constexpr size_t kStageMargin = 3;

    const Graph& graph_;
    const RowRegion& region_;
    RowPlan plan_;
    const std::vector<bool>& inlined_;
    const LowerOptions& options_;
    std::vector<std::vector<NodeId>> readers_;
    std::vector<bool> leaves_;
    /// A software driver compiles long code for seconds, and gains little by it.
    bool is_software_;
    std::vector<bool> is_made_;  ///< per value: by one of the groups, rather than filled in
    std::vector<std::shared_ptr<const Group>> numbers_;  ///< that each workgroup works out
    GroupKernel kernel_;
    std::string rows_;
    std::string functions_;
    std::set<size_t> weight_functions_;  ///< weights that have one among them
    std::string declarations_;           ///< sums that live as long as the workgroup
    std::string sums_;                   ///< stores them
    bool keeps_gradients_ = false;
    std::set<ValueId> vanishing_;   ///< of what is written: zero in rows that sums leave out
    bool is_whole_tile_ = false;    ///< of what is written, with rows in registers
    mutable bool is_lost_ = false;  ///< a value is wanted that no tile holds
};

}  // namespace hearth
