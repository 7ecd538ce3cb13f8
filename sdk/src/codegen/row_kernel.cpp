// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Puts a row program together: what comes before the tiles, the loop over them, the stages of a tile
// level by level, and what is left when all tiles are done.

#include "codegen/row_kernel.hpp"

#include "codegen/row_stages.hpp"

#include <algorithm>
#include <utility>

namespace hearth {

std::string label_of(const Graph& graph, const RowPlan& plan, const RowStage& stage) {
    if (stage.group == nullptr)
        return "rows of %" + std::to_string(plan.tiles[static_cast<size_t>(stage.left)].value);
    std::string label;
    for (NodeId n : stage.group->nodes)
        label += (label.empty() ? "" : " + ") + std::string(graph.nodes[n].op->name);
    return label;
}

std::unique_ptr<Stage> make_stage(RowFrame& frame, RowWeightCopies& weights,
                                  const RowStage& stage) {
    switch (stage.kind) {
        case RowStageKind::kFill:
            return std::make_unique<FillStage>(frame, stage);
        case RowStageKind::kMap:
            return std::make_unique<MapStage>(frame, stage);
        case RowStageKind::kRowwise:
            return std::make_unique<ReductionStage>(frame, stage);
        case RowStageKind::kProduct:
            if (frame.holds_weights())
                return std::make_unique<HeldProductStage>(frame, stage, weights);
            return std::make_unique<SharedProductStage>(frame, stage, weights);
        case RowStageKind::kGradient:
            return std::make_unique<GradientStage>(frame, stage);
        case RowStageKind::kRowSum:
            return std::make_unique<RowSumStage>(frame, stage);
        case RowStageKind::kWalk:
            return std::make_unique<WalkStage>(frame, stage);
    }
    return nullptr;
}

namespace {

/// Tiles of a workgroup at capacity, where nothing is summed over rows: enough workgroups for a large
/// GPU first, then few, as each loads the weights.
int tiles_each(const RowFrame& frame) {
    constexpr int64_t kMostEach = 8, kEnoughGroups = 256;
    const int64_t rows = frame.region.rows.at(static_cast<int64_t>(frame.options.rows_capacity));
    const int64_t tiles = (rows + frame.plan.tile_rows - 1) / frame.plan.tile_rows;
    const int64_t most = frame.options.caps.max_workgroup_count_x;
    const int64_t least = (tiles + most - 1) / most;
    return static_cast<int>(
        std::max<int64_t>(least, std::clamp<int64_t>(tiles / kEnoughGroups, 1, kMostEach)));
}

GridAxis grid_of(const RowFrame& frame) {
    const RowPlan& plan = frame.plan;
    if (plan.parts != 0) return {{static_cast<uint64_t>(plan.parts), 0}, 1};
    return {work_of(frame.region.rows), static_cast<uint32_t>(plan.tile_rows * tiles_each(frame))};
}

class RowKernel {
  public:
    RowKernel(const Graph& graph, const RowRegion& region, RowPlan plan,
              const std::vector<bool>& inlined, const LowerOptions& options)
        : frame_(graph, region, std::move(plan), inlined, options), weights_(frame_) {
        frame_.keeps_gradients = keeps_gradients(frame_.plan);
    }

    Result<GroupKernel> run() {
        Body& body = *frame_.body;
        KernelWriter head = frame_.writer();
        frame_.thread = head.let("tid", body.invocation());
        const std::vector<Statement> tiles = write_tiles();
        if (frame_.is_lost) return unsupported("it reads what it computed where it no longer is");
        const std::vector<uint32_t> numbers = number_functions(
            frame_.graph, frame_.numbers, frame_.inlined, frame_.options, body.threads, body);
        head.append(frame_.declarations.take());
        load_vectors(head);
        for (const uint32_t function : numbers) head.call(function);
        if (frame_.plan.mode == RowWeights::kOnce) bring(head, own_weights());
        head.append(tiles);
        head.append(frame_.ends.take());
        body.statements = head.take();

        GroupKernel kernel;
        kernel.name = "row_program";
        set_body(kernel, frame_.body);
        kernel.stores = frame_.stores;
        kernel.grid[0] = grid_of(frame_);
        return kernel;
    }

  private:
    /// The workgroup's rows, tile by tile.
    std::vector<Statement> write_tiles() {
        const RowPlan& plan = frame_.plan;
        Body& body = *frame_.body;
        KernelWriter writer = frame_.writer();
        const Expr rows = count_of(frame_.region.rows, body);
        frame_.group = writer.let("group", body.workgroup());
        frame_.last_row = writer.let("last_row", rows - 1);
        const Expr tile = body.index(plan.tile_rows);
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
                plan.parts != 0 ? tile : tile * body.workgroups());
        }
        frame_.count =
            writer.let("count", body.clamp(frame_.end - frame_.first, body.index(0), tile));
        for (uint32_t level = 0; level < plan.levels; ++level) write_level(writer, level);
        writer.end();
        return writer.take();
    }

    void write_level(KernelWriter& to, uint32_t level) {
        const RowPlan& plan = frame_.plan;
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

    void write_stages(KernelWriter& to, uint32_t level) {
        std::vector<std::pair<const RowStage*, std::unique_ptr<Stage>>> stages;
        for (const RowStage& stage : frame_.plan.stages)
            if (stage.level == level)
                stages.emplace_back(&stage, make_stage(frame_, weights_, stage));
        for (const auto& [planned, stage] : stages) stage->prepare(to);
        const auto write = [&](const auto& which) {
            for (const auto& [planned, stage] : stages) {
                if (!which(*planned)) continue;
                to.block(label_of(frame_.graph, frame_.plan, *planned));
                to.append(stage->write());
                to.end();
            }
        };
        if (!frame_.holds_weights()) return write([](const RowStage&) { return true; });
        // Sums of slices wait for each other.
        const auto is_product = [](const RowStage& s) { return s.kind == RowStageKind::kProduct; };
        write([&](const RowStage& s) { return !is_product(s); });
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

    RowFrame frame_;
    RowWeightCopies weights_;
};

}  // namespace

Result<GroupKernel> row_kernel(const Graph& graph, const RowRegion& region, RowPlan plan,
                               const std::vector<bool>& inlined, const LowerOptions& options) {
    return RowKernel(graph, region, std::move(plan), inlined, options).run();
}

}  // namespace hearth
