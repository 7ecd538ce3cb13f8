// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Puts a fused network together: what comes before the tiles, the loop over them, the stages of a tile
// level by level, and what is left when all tiles are done.

#include "compiler/codegen/fused_network/kernel.hpp"

#include "compiler/codegen/fused_network/matrix_stages.hpp"
#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/reduction/replicated_scalar_functions.hpp"
#include "compiler/codegen/shared/extents.hpp"
#include "core/device_model.hpp"

#include <algorithm>
#include <utility>

namespace hearth {

std::string label_of(const Graph& graph, const NetworkPlan& plan, const NetworkStage& stage) {
    if (stage.group == nullptr)
        return "rows of %" + std::to_string(plan.tiles[static_cast<size_t>(stage.left)].value);
    std::string label;
    for (NodeId n : stage.group->nodes)
        label += (label.empty() ? "" : " + ") + std::string(graph.nodes[n].op->name);
    return label;
}

std::unique_ptr<Stage> make_stage(NetworkFrame& frame, RowWeightCopies& weights,
                                  const NetworkStage& stage) {
    switch (stage.kind) {
        case NetworkStageKind::kFill:
            return std::make_unique<FillStage>(frame, stage);
        case NetworkStageKind::kElementwise:
            return std::make_unique<MapStage>(frame, stage);
        case NetworkStageKind::kReduction:
            return std::make_unique<ReductionStage>(frame, stage);
        case NetworkStageKind::kProduct:
            if (frame.has_matrices())
                return std::make_unique<MatrixProductStage>(frame, stage, weights);
            if (frame.holds_weights())
                return std::make_unique<RegisterProductStage>(frame, stage, weights);
            return std::make_unique<SharedProductStage>(frame, stage, weights);
        case NetworkStageKind::kGradient:
            if (frame.has_matrices()) return std::make_unique<MatrixGradientStage>(frame, stage);
            return std::make_unique<GradientStage>(frame, stage);
        case NetworkStageKind::kRowSum:
            if (ColumnPairSumStage::fits(frame, stage))
                return std::make_unique<ColumnPairSumStage>(frame, stage);
            if (ColumnEightSumStage::fits(frame, stage))
                return std::make_unique<ColumnEightSumStage>(frame, stage);
            return std::make_unique<RowSumStage>(frame, stage);
        case NetworkStageKind::kWalk:
            return std::make_unique<WalkStage>(frame, stage);
    }
    return nullptr;
}

namespace {

/// Tiles of a workgroup at capacity, where nothing is summed over rows: enough workgroups for the
/// device first, then few, as each loads the weights.
int tiles_each(const NetworkFrame& frame) {
    constexpr int64_t kMostEach = 8;
    // Rows in registers take all registers of a multiprocessor.
    const int64_t enough_groups =
        device_model(frame.options.caps).in_proportion(frame.plan.in_registers ? 128 : 256);
    const int64_t rows =
        frame.region.rows.resolve(static_cast<int64_t>(frame.options.rows_capacity));
    const int64_t tiles = (rows + frame.plan.tile_rows - 1) / frame.plan.tile_rows;
    const int64_t most = frame.options.caps.max_compute_work_group_count_x;
    const int64_t least = (tiles + most - 1) / most;
    return static_cast<int>(
        std::max<int64_t>(least, std::clamp<int64_t>(tiles / enough_groups, 1, kMostEach)));
}

GridAxis grid_of(const NetworkFrame& frame) {
    const NetworkPlan& plan = frame.plan;
    if (plan.parts != 0) return {{static_cast<uint64_t>(plan.parts), 0}, 1};
    return {work_of(frame.region.rows), static_cast<uint32_t>(plan.tile_rows * tiles_each(frame))};
}

class RowKernel {
  public:
    RowKernel(const Graph& graph, const RowRegion& region, NetworkPlan plan,
              const std::vector<bool>& inlined, const LowerOptions& options)
        : frame_(graph, region, std::move(plan), inlined, options), weights_(frame_) {
        frame_.keeps_gradients = frame_.has_matrices() ? keeps_matrix_gradients(frame_)
                                                       : keeps_gradients(frame_.plan, options.caps);
    }

    Result<KernelDraft> run() {
        Body& body = *frame_.body;
        KernelWriter head = frame_.writer();
        frame_.thread = head.let("tid", body.invocation());
        if (frame_.has_matrices()) {
            frame_.subgroup = head.let("subgroup", body.subgroup());
            frame_.subgroup_lane = head.let("subgroup_lane", body.subgroup_invocation());
        }
        const std::vector<Statement> tiles = write_tiles();
        if (frame_.is_lost) return unsupported("it reads what it computed where it no longer is");
        const std::vector<uint32_t> numbers =
            replicated_scalar_functions(frame_.graph, frame_.replicated_scalars, frame_.inlined,
                                        frame_.options, body.threads, body);
        head.append(frame_.declarations.take());
        load_vectors(head);
        for (const uint32_t function : numbers) head.call(function);
        if (frame_.plan.mode == RowWeights::kOnce) bring(head, own_weights());
        if (frame_.plan.in_registers) load_positions(head);
        head.append(tiles);
        head.append(frame_.ends.take());
        body.statements = head.take();

        KernelDraft kernel;
        kernel.name = "fused_network";
        set_body(kernel, frame_.body);
        kernel.stores = frame_.stores;
        kernel.may_divide_inexactly = true;  // it would take 2 to 5 % longer to learn
        kernel.prefers_nv_matrices = frame_.plan.in_registers;
        kernel.grid[0] = grid_of(frame_);
        return kernel;
    }

  private:
    /// The workgroup's rows, tile by tile.
    std::vector<Statement> write_tiles() {
        const NetworkPlan& plan = frame_.plan;
        Body& body = *frame_.body;
        KernelWriter writer = frame_.writer();
        const Expr rows = count_of(frame_.region.rows, body);
        frame_.group = writer.let("group", body.workgroup());
        frame_.last_row = writer.let("last_row", rows - 1);
        const Expr tile = body.index(plan.tile_rows);
        if (frame_.slides()) {
            RowBlocks& blocks = frame_.blocks;
            blocks.is_few = writer.let("is_few", frame_.last_row < matrix_lines() - 1);
            blocks.apart = writer.let("apart", select(blocks.is_few, body.index(0), body.index(1)));
        }
        if (plan.parts != 0) {
            const Expr chunk =
                writer.let("chunk", ((rows + plan.parts - 1) / plan.parts + plan.granule - 1) /
                                        plan.granule * plan.granule);
            frame_.begin = writer.let("begin", frame_.group * chunk);
            frame_.end = writer.let("end", lesser(frame_.begin + chunk, rows));
        } else {
            frame_.begin = writer.let("begin", frame_.group * tile);
            frame_.end = writer.let("end", rows);
        }
        if (plan.is_single) {
            writer.block();
            frame_.first = writer.let("first", frame_.begin);
        } else {
            frame_.first = writer.for_(
                "first", frame_.begin, [&](Expr next) { return next < frame_.end; },
                frame_.slides()   ? select(frame_.blocks.is_few, body.index(plan.subgroups), tile)
                : plan.parts != 0 ? tile
                                  : tile * body.workgroups());
        }
        frame_.count =
            writer.let("count", body.clamp(frame_.end - frame_.first, body.index(0), tile));
        if (frame_.has_matrices())
            write_matrix_tile(writer);
        else
            write_levels(writer);
        writer.end();
        return writer.take();
    }

    void write_levels(KernelWriter& to) {
        for (uint32_t level = 0; level < frame_.plan.levels; ++level) write_level(to, level);
    }

    /// Tiles whose rows all exist have code of their own: it need not know which element of a fragment
    /// is which, and branches around fragments cost more than what they decide about.
    void write_matrix_tile(KernelWriter& to) {
        const auto write = [&](bool is_whole) {
            frame_.is_whole_tile = is_whole;
            frame_.plan.in_registers ? write_in_registers(to) : write_levels(to);
        };
        if (frame_.slides()) return write(true);
        to.if_(frame_.count == frame_.plan.tile_rows);
        write(true);
        to.end();
        to.else_();
        write(false);
        to.end();
    }

    void write_level(KernelWriter& to, uint32_t level) {
        const NetworkPlan& plan = frame_.plan;
        // The tile before may still be read when a new one begins.
        if (level > 0 || !plan.is_single) to.barrier();
        frame_.take_all_threads();
        std::vector<size_t> ahead;
        for (size_t w = 0; w < plan.weights.size(); ++w)
            if (plan.mode == RowWeights::kAhead && plan.weights[w].level == level + 1)
                ahead.push_back(w);
        for (size_t w : ahead)
            if (weights_.can_fetch(w)) weights_.fetch(to, w);
        for (size_t w = 0; w < plan.weights.size(); ++w)
            if (frame_.holds_weights() && plan.weights[w].fetch_level == level)
                weights_.hold(to, w);
        write_stages(to, level);
        for (size_t w : ahead)
            weights_.can_fetch(w) ? weights_.put(to, w) : weights_.load_all(to, w);
    }

    // ------------------------------------------------------------------------- rows in registers

    int matrix_lines() const { return static_cast<int>(frame_.body->matrix.m); }

    void write_in_registers(KernelWriter& to) {
        const NetworkPlan& plan = frame_.plan;
        frame_.blocks.fragments.clear();
        frame_.blocks.vanishing.clear();
        let_block(to);
        const bool stays = plan.mode == RowWeights::kOnce;
        if (!stays) {
            const std::vector<size_t> weights = forward_weights();
            for (const size_t w : weights)
                if (weights_.can_fetch(w)) weights_.fetch(to, w);
            for (const size_t w : weights) bring_rest(to, w);
            to.barrier();
        }
        write_fragments(to, 0, plan.back);
        if (plan.steps.empty()) return;
        if (!stays) {
            to.barrier();
            load_first_back_weight(to);
        }
        for (const RowStep& step : plan.steps) write_step(to, step, stays);
    }

    /// Names the subgroup's rows.  Where rows are summed over, a block at the end of all rows moves back
    /// to where there are enough of them, and sums leave out the rows that another block has.  With
    /// fewer rows than a block has, each block has one of them, again and again.  So one code does for
    /// all tiles: with a second one beside it NVIDIA's compiler (580) runs out of registers.
    void let_block(KernelWriter& to) {
        RowBlocks& blocks = frame_.blocks;
        blocks.base = to.let("base", frame_.subgroup * (frame_.plan.blocks * matrix_lines()));
        if (!frame_.slides()) return;
        const Expr zero = frame_.index(0), one = frame_.index(1);
        const Expr own = frame_.first + blocks.base, single = frame_.first + frame_.subgroup;
        blocks.start = to.let("start", select(blocks.is_few, lesser(single, frame_.last_row),
                                              lesser(own, frame_.last_row - (matrix_lines() - 1))));
        blocks.skip = to.let("skip", select(blocks.is_few, zero, own - blocks.start));
        blocks.stop = to.let("stop", select(blocks.is_few, select(single < frame_.end, one, zero),
                                            frame_.end - blocks.start));
    }

    std::vector<size_t> forward_weights() const {
        std::vector<size_t> weights;
        for (size_t i = 0; i < frame_.plan.back; ++i) {
            const NetworkStage& stage = frame_.plan.stages[i];
            if (stage.kind != NetworkStageKind::kProduct) continue;
            const auto w = static_cast<size_t>(stage.weight);
            if (frame_.plan.weights[w].same_as < 0) weights.push_back(w);
        }
        return weights;
    }

    /// Weights that were fetched, or all of their way.
    void bring_rest(KernelWriter& to, size_t w) {
        weights_.can_fetch(w) ? weights_.put(to, w) : weights_.load_all(to, w);
    }

    /// The weights of the first product on the way back lie in their place already, if a layer used
    /// them before.
    void load_first_back_weight(KernelWriter& to) {
        const NetworkPlan& plan = frame_.plan;
        if (plan.back >= plan.computes) return;
        const auto w = static_cast<size_t>(plan.stages[plan.back].weight);
        if (plan.weights[w].same_as >= 0) return;
        weights_.load_all(to, w);
        to.barrier();
    }

    /// Sums over all rows and columns are taken fragment by fragment as the stage before makes them.
    void write_fragments(KernelWriter& to, size_t first, size_t last) {
        const std::vector<NetworkStage>& stages = frame_.plan.stages;
        for (size_t i = first; i < last;) {
            const NetworkStage& planned = stages[i++];
            const std::unique_ptr<FragmentStage> stage = make_fragment_stage(frame_, planned);
            if (planned.kind == NetworkStageKind::kProduct ||
                planned.kind == NetworkStageKind::kElementwise)
                for (; i < last && stages[i].kind == NetworkStageKind::kRowSum &&
                       frame_.row_width(stages[i].node->inputs[0]) ==
                           frame_.row_width(planned.group->stores[0]);
                     ++i)
                    stage->then_sum(stages[i]);
            stage->prepare(to);
            write_stage(to, planned, *stage);
        }
    }

    void write_stage(KernelWriter& to, const NetworkStage& planned, Stage& stage) {
        to.block(label_of(frame_.graph, frame_.plan, planned));
        to.append(stage.write());
        to.end();
    }

    void write_step(KernelWriter& to, const RowStep& step, bool stays) {
        const std::vector<NetworkStage>& stages = frame_.plan.stages;
        const bool sums = step.gradient >= 0, fetches = !stays && step.next_weight >= 0;
        const NetworkStage& gradient = stages[static_cast<size_t>(std::max(step.gradient, 0))];
        const auto next = static_cast<size_t>(std::max(step.next_weight, 0));
        if (sums) share_factors(frame_, to, gradient);
        write_fragments(to, step.first, step.last);
        if (!sums && !fetches) return;
        to.barrier();
        if (fetches && weights_.can_fetch(next)) weights_.fetch(to, next);
        if (sums) {
            MatrixGradientStage stage(frame_, gradient);
            write_stage(to, gradient, stage);
            for (const int s : step.sums) {
                const NetworkStage& planned = stages[static_cast<size_t>(s)];
                SharedFactorSumStage sum(frame_, planned, gradient);
                write_stage(to, planned, sum);
            }
        }
        if (fetches) bring_rest(to, next);
        to.barrier();
    }

    void load_positions(KernelWriter& to) {
        to.if_(frame_.thread < frame_.plan.edge);
        frame_.put_shared(to, frame_.thread + frame_.plan.positions_offset,
                          frame_.body->operation(ScalarOp::kToF32, frame_.thread));
        to.end();
        to.barrier();
    }

    // ------------------------------------------------------------------------- levels

    void write_stages(KernelWriter& to, uint32_t level) {
        std::vector<std::pair<const NetworkStage*, std::unique_ptr<Stage>>> stages;
        for (const NetworkStage& stage : frame_.plan.stages)
            if (stage.level == level)
                stages.emplace_back(&stage, make_stage(frame_, weights_, stage));
        for (const auto& [planned, stage] : stages) stage->prepare(to);
        const auto write = [&](const auto& which) {
            for (const auto& [planned, stage] : stages) {
                if (!which(*planned)) continue;
                write_stage(to, *planned, *stage);
            }
        };
        if (!frame_.holds_weights()) return write([](const NetworkStage&) { return true; });
        // Sums of slices wait for each other.
        const auto is_product = [](const NetworkStage& s) {
            return s.kind == NetworkStageKind::kProduct;
        };
        write([&](const NetworkStage& s) { return !is_product(s); });
        const auto& weights = frame_.plan.weights;
        if (std::any_of(weights.begin(), weights.end(),
                        [&](const RowWeight& w) { return w.level == level && w.slices > 1; }))
            to.barrier();
        write(is_product);
    }

    void load_vectors(KernelWriter& to) {
        const int threads = frame_.plan.threads;
        std::vector<std::pair<const RowVector*, Expr>> on_their_way;
        for (const RowVector& v : frame_.plan.vectors) {
            const uint32_t buffer = frame_.buffer(v.value);
            if (frame_.holds_weights() && v.count <= threads) {
                const Expr at = lesser(frame_.thread, frame_.index(v.count - 1));
                on_their_way.emplace_back(
                    &v, to.let("vector" + std::to_string(v.value), frame_.body->load(buffer, at)));
                continue;
            }
            const Expr e = to.for_(
                "e", frame_.thread, [&](Expr next) { return next < v.count; },
                frame_.index(threads));
            frame_.put_shared(to, e + v.offset, frame_.body->load(buffer, e));
            to.end();
        }
        for (const auto& [v, element] : on_their_way) {
            to.if_(frame_.thread < v->count);
            frame_.put_shared(to, frame_.thread + v->offset, element);
            to.end();
        }
    }

    std::vector<size_t> own_weights() const {
        std::vector<size_t> own;
        for (size_t w = 0; w < frame_.plan.weights.size(); ++w)
            if (frame_.plan.weights[w].same_as < 0) own.push_back(w);
        return own;
    }

    /// Weights are all on their way before the first of them is waited for.
    void bring(KernelWriter& to, std::span<const size_t> weights) {
        for (size_t w : weights)
            weights_.can_fetch(w) ? weights_.fetch(to, w) : weights_.load_all(to, w);
        for (size_t w : weights)
            if (weights_.can_fetch(w)) weights_.put(to, w);
    }

    NetworkFrame frame_;
    RowWeightCopies weights_;
};

}  // namespace

Result<KernelDraft> row_kernel(const Graph& graph, const RowRegion& region, NetworkPlan plan,
                               const std::vector<bool>& inlined, const LowerOptions& options) {
    return RowKernel(graph, region, std::move(plan), inlined, options).run();
}

}  // namespace hearth
