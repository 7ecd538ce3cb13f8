// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Plans a fused network (fused_network.hpp): which group runs at which level between two barriers of a
// workgroup, and where in shared memory the rows of each value and the weights of each product lie.

#pragma once

#include "compiler/codegen/lower_options.hpp"
#include "compiler/fusion/fuse.hpp"
#include "compiler/ops/kernels/gru_walk.hpp"

#include <hearth/status.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// A tile's rows of one value in shared memory.  Sizes and offsets are in floats; a width counts
/// elements.
struct RowTile {
    ValueId value = kInvalidId;
    int width = 0;           ///< elements of one row
    int stride = 0;          ///< of its place; what is beyond the width is zero up to `padded()`
    bool is_factor = false;  ///< read several elements at a time, so padded with zeros
    int half_edge = 0;       ///< not 0: elements are f16, padded to multiples of this
    uint32_t first_level = kInvalidId, last_level = 0;
    int offset = 0;

    bool is_half() const { return half_edge != 0; }
    int padded() const {
        const int to = is_half() ? half_edge : is_factor ? 4 : 1;
        return (width + to - 1) / to * to;
    }
};

/// A small tensor that is the same for all rows (a bias), in shared memory from the start.
struct RowVector {
    ValueId value = kInvalidId;
    int count = 0;
    int offset = 0;
};

/// The weights of one product in shared memory, as they lie in the tensor: lines of its last axis.
struct RowWeight {
    ValueId value = kInvalidId;
    bool is_dot = false;       ///< the last axis is summed over
    int inner = 0;             ///< extent that is summed over
    int outer = 0;             ///< extent of the result
    int half_edge = 0;         ///< as RowTile's
    int same_as = -1;          ///< the weights before it that are the same, if any
    int chunk = 0;             ///< of `inner`, in shared memory at a time; a multiple of edge()
    int stride = 0;            ///< of a line
    uint32_t level = 0;        ///< of the product
    int offset = 0;            ///< held weights: of the sums of slices
    int slices = 1;            ///< held weights: threads that share the inner extent of a column
    int held_quads = 0;        ///< held weights: of each thread, for each round
    uint32_t fetch_level = 0;  ///< held weights: when they are fetched

    int edge() const { return half_edge != 0 ? half_edge : 4; }
    int padded_outer() const { return (outer + edge() - 1) / edge() * edge(); }
    /// Elements of a line.
    int line_width() const { return is_dot ? chunk : padded_outer(); }
    /// Lines that a product may touch, whatever is in them.
    int padded_lines() const { return is_dot ? padded_outer() : chunk; }
    bool is_whole() const { return chunk >= inner; }
    int inner_quads() const { return (inner + 3) / 4; }
};

enum class NetworkStageKind : uint8_t {
    kFill,  ///< copies rows that a product reads into shared memory
    kElementwise,
    kReduction,  ///< reductions within each row
    kProduct,    ///< rows times weights
    kGradient,   ///< x^T g, summed over the workgroup's rows
    kRowSum,     ///< a sum over the workgroup's rows
    kWalk,       ///< the rows of each window in order (WalkStage)
};

struct NetworkStage {
    NetworkStageKind kind = NetworkStageKind::kElementwise;
    const Group* group = nullptr;  ///< null: a fill
    const Node* node = nullptr;    ///< the product or sum
    int left = -1, right = -1;     ///< tiles that a product or gradient multiplies; a fill's tile
    int weight = -1;               ///< a product's
    int walk = -1;                 ///< of NetworkPlan::walks
    uint32_t level = 0;
};

/// How a workgroup goes through its windows, and the place in shared memory that this takes.
struct RowWalk {
    GruWalk walk;
    int64_t hidden = 0;
    bool is_backward = false;
    uint32_t level = 0;
    int offset = 0;
};

/// What subgroups that keep rows in registers do between two barriers each: first they compute and
/// share the factors of a weight gradient, then they sum.
struct RowStep {
    size_t first = 0, last = 0;  ///< stages that compute: a product and what follows it, or none
    int gradient = -1;           ///< a stage, or none
    std::vector<int> sums;       ///< stages: sums over rows of the gradient's factors
    int next_weight = -1;        ///< what the next step's product multiplies, to be fetched
};

/// When weights come into shared memory.
enum class RowWeights : uint8_t {
    kHeld,     ///< never: each thread holds those that it multiplies by in registers
    kOnce,     ///< all of them, before the first tile
    kAhead,    ///< each during the level before its product
    kChunked,  ///< each, or some of it at a time, within its product
};

struct NetworkPlan {
    int tile_rows = 0;
    int threads = 0;
    int parts = 0;           ///< workgroups that sum over rows; 0: none do
    int granule = 1;         ///< rows of a part are a multiple of these
    bool is_single = false;  ///< a workgroup has one tile at most
    std::vector<RowTile> tiles;
    std::vector<RowWeight> weights;
    std::vector<RowVector> vectors;  ///< readable from level 1 on
    std::vector<RowWalk> walks;
    std::vector<NetworkStage> stages;  ///< by level
    uint32_t levels = 0;
    RowWeights mode = RowWeights::kOnce;
    /// Ways to place rows and weights in shared memory ("tiles of 8 rows, weights held"), the shipped one
    /// first; none where rows stay in registers.
    std::vector<std::string> variants;
    int edge = 0;  ///< of matrices, on matrix cores; 0: products are the threads' own
    int subgroups = 0;
    int matrix_offset = 0;   ///< on matrix cores, for each subgroup the sums of one matrix
    int matrix_stride = 0;   ///< of a line of it
    int scratch_offset = 0;  ///< a float for each thread
    int shared_floats = 0;

    // Where rows stay in registers (row_stage_fragments.cpp) there are no levels: the first `computes`
    // stages run in the order of data flow, those before `back` with all weights in shared memory,
    // the others and what is summed over rows in steps.
    bool in_registers = false;
    size_t computes = 0, back = 0;
    std::vector<RowStep> steps;
    int blocks = 1;            ///< matrices of rows of a subgroup
    int exchange[2] = {0, 0};  ///< places of a gradient's factors: all rows of the workgroup
    int positions_offset = 0;  ///< the numbers from 0 to the edge of a matrix
    int own_offset = 0;        ///< rows of each subgroup, where left factors pass through memory
    int own_stride = 0;

    /// The tile from which stages of `level` can read `value`, or null.
    const RowTile* tile_of(ValueId value, uint32_t level) const;
    /// The tile that a stage fills with `value`, or null if no other stage reads it.
    const RowTile* tile_for(ValueId value) const;
};

/// groups: those of the region, in an order that respects data flow.
/// variant: which of NetworkPlan::variants; unknown: the first.
/// Errors: kUnsupported telling why the region is no fused network; kOutOfRange if it exceeds shared
/// memory, which a part of it may not.
Result<NetworkPlan> plan_rows(const Graph& graph, const RowRegion& region,
                              std::span<const Group* const> groups,
                              const std::vector<bool>& inlined, const LowerOptions& options,
                              std::string_view variant);

/// Completes a plan, whose stages are in the order of data flow, for rows in registers.
/// Errors: kUnsupported telling what does not fit.
Status place_in_registers(const Graph& graph, const std::vector<bool>& inlined,
                          const LowerOptions& options, NetworkPlan& plan);

/// Whether the value goes from one walk to another through memory: each thread reads there what it has
/// written itself.
bool passes_through_memory(const Graph& graph, ValueId v);

/// Numbers for each of which a kRowSum adds up the rows.
int row_sum_columns(const Graph& graph, const NetworkStage& stage);

}  // namespace hearth
