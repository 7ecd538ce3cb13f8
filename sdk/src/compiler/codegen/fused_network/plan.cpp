// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/fused_network/plan.hpp"

#include "core/device_model.hpp"
#include "core/placement.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>

namespace hearth {

namespace {

constexpr int kMaxWidth = 2048;  // elements of one row of one value
// For programs without sums over rows; otherwise the graph decides (passes/split_sums.cpp).
constexpr int64_t kFewRows = 1024, kSomeRows = 16384;

int round_up(int value, int to) {
    return (value + to - 1) / to * to;
}

/// A line of `floats` whose neighbours start in other banks when read four floats at a time.
int padded_stride(int floats) {
    const int quads = (floats + 3) / 4;
    return 4 * (quads % 2 == 0 ? quads + 1 : quads);
}

/// The same in floats for f16, a multiple of 16.
int padded_half_stride(int halfs) {
    return (halfs + 8) / 2;
}

class RowPlanner {
  public:
    RowPlanner(const Graph& graph, const RowRegion& region, std::span<const Group* const> groups,
               const std::vector<bool>& inlined, const LowerOptions& options,
               std::string_view variant, int edge)
        : graph_(graph),
          region_(region),
          groups_(groups),
          inlined_(inlined),
          options_(options),
          variant_(variant) {
        plan_.edge = edge;
    }

    /// With rows in registers.
    Result<NetworkPlan> run_in_registers() {
        HEARTH_TRY(check_row_layers(graph_, region_, options_.rows_capacity, options_.caps));
        HEARTH_TRY(add_groups());
        for (RowTile& tile : plan_.tiles) {
            tile.half_edge = plan_.edge;
            tile.stride = padded_half_stride(tile.padded());
        }
        for (RowWeight& w : plan_.weights) {
            w.chunk = round_up(w.inner, w.edge());
            w.stride = padded_half_stride(w.line_width());
        }
        HEARTH_TRY(place_in_registers(graph_, inlined_, options_, plan_));
        return std::move(plan_);
    }

    /// in_turns: networks that share nothing but what they see (actor and critic) run one after the
    /// other, so that they need their shared memory one after the other.
    Result<NetworkPlan> run(bool in_turns = false) {
        HEARTH_TRY(check_row_layers(graph_, region_, options_.rows_capacity, options_.caps));
        HEARTH_TRY(check_shared_rows(graph_, region_, options_.rows_capacity, options_.caps));
        HEARTH_TRY(in_turns ? add_networks() : add_groups());
        for (NetworkStage& stage : plan_.stages)
            plan_.levels = std::max(plan_.levels, stage.level + 1);
        std::stable_sort(
            plan_.stages.begin(), plan_.stages.end(),
            [](const NetworkStage& a, const NetworkStage& b) { return a.level < b.level; });
        for (RowTile& tile : plan_.tiles) {
            if (tile.is_factor) tile.half_edge = plan_.edge;
            tile.stride = tile.is_half()   ? padded_half_stride(tile.padded())
                          : tile.is_factor ? padded_stride(tile.width)
                                           : tile.width;
        }
        HEARTH_TRY(check_half_tiles());
        Status placed = place();
        if (!placed.ok() && in_turns) {
            // Small weights can be read from memory as well.
            plan_.vectors.clear();
            placed = place();
        }
        HEARTH_TRY(placed);
        return std::move(plan_);
    }

  private:
    Status add_groups() {
        for (const Group* group : groups_)
            for (ValueId v : group->stores) stage_of_[v] = kInvalidId;
        for (const Group* group : groups_) HEARTH_TRY(add_group(*group));
        return {};
    }

    Status add_networks() {
        for (const Group* group : groups_)
            for (ValueId v : group->stores) stage_of_[v] = kInvalidId;
        const std::vector<size_t> networks = networks_of_groups();
        for (size_t network = 0; network <= groups_.size(); ++network) {
            if (network > 0)
                for (const NetworkStage& stage : plan_.stages)
                    first_level_ = std::max(first_level_, stage.level + 1);
            for (size_t g = 0; g < groups_.size(); ++g)
                if (networks[g] == network) HEARTH_TRY(add_group(*groups_[g]));
        }
        return {};
    }

    /// Of each group, the network that it is of.  Groups are of one network if one reads what another
    /// has made of products.  0: what comes before all products.
    std::vector<size_t> networks_of_groups() const {
        std::vector<bool> follows(graph_.values.size(), false);
        for (NodeId n : region_.nodes) {
            const Node& node = graph_.nodes[n];
            const bool is_behind =
                node.op->op_class == OpClass::kMatmul ||
                std::ranges::any_of(node.inputs, [&](ValueId v) { return follows[v]; });
            for (ValueId v : node.outputs) follows[v] = is_behind;
        }
        std::map<ValueId, size_t> maker;
        std::vector<size_t> networks(groups_.size(), 0);
        for (size_t g = 0; g < groups_.size(); ++g)
            for (ValueId v : groups_[g]->stores) {
                maker[v] = g;
                if (follows[v]) networks[g] = g + 1;
            }
        // What comes before products may be made on the side, by a group of another network: an
        // earlier one.
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t g = 0; g < groups_.size(); ++g)
                for (ValueId v : loads_of(graph_, *groups_[g], inlined_)) {
                    const auto made = maker.find(v);
                    if (made == maker.end()) continue;
                    const size_t from = networks[made->second], to = networks[g];
                    const bool is_free = from == to || (!follows[v] && from < to);
                    if (is_free) continue;
                    changed = true;
                    if (to == 0)
                        networks[g] = from;
                    else
                        std::ranges::replace(networks, std::max(from, to), std::min(from, to));
                }
        }
        return networks;
    }

    Status add_group(const Group& group) {
        NetworkStage stage{.group = &group, .level = first_level_};
        HEARTH_TRY(classify(group, stage));
        for (ValueId v : loads_of(graph_, group, inlined_)) {
            if (passes_through_memory(graph_, v) && stage_of_.contains(v)) {
                if (stage.kind != NetworkStageKind::kWalk)
                    return unsupported("what a walk through its windows kept is read elsewhere");
                stage.level = std::max(stage.level, plan_.stages[stage_of_[v]].level + 1);
                continue;
            }
            bring(v);
            read(v, stage);
            add_vector(v);
        }
        if (stage.kind == NetworkStageKind::kProduct) {
            stage.left = factor(stage.node->inputs[0], stage);
            add_weight(stage);
        }
        if (stage.kind == NetworkStageKind::kGradient) {
            stage.left = factor(stage.node->inputs[0], stage);
            stage.right = factor(stage.node->inputs[1], stage);
        }
        if (stage.kind == NetworkStageKind::kGradient || stage.kind == NetworkStageKind::kRowSum) {
            const int parts = static_cast<int>(stage.node->attrs.integer("parts"));
            const int granule = static_cast<int>(stage.node->attrs.integer("granule"));
            if (plan_.parts != 0 && (plan_.parts != parts || plan_.granule != granule))
                return unsupported("its sums over rows are cut in different ways");
            plan_.parts = parts;
            plan_.granule = granule;
        }
        if (stage.kind == NetworkStageKind::kWalk) {
            const bool is_backward = stage.node->op->traits.walk == WindowWalk::kBackward;
            const ValueId weight =
                stage.node->inputs[is_backward ? size_t{kGruBackWeight} : size_t{kGruWeight}];
            stage.walk = static_cast<int>(plan_.walks.size());
            plan_.walks.push_back({.hidden = graph_.value(weight).shape[1].count,
                                   .is_backward = is_backward,
                                   .level = stage.level});
        }
        const auto index = static_cast<uint32_t>(plan_.stages.size());
        for (ValueId v : group.stores) {
            stage_of_[v] = index;
            if (stage.kind == NetworkStageKind::kReduction) rowwise_.insert(v);
        }
        if (stage.weight >= 0) plan_.weights[static_cast<size_t>(stage.weight)].level = stage.level;
        for (ValueId v : group.stores)
            if (RowTile* tile = find_tile(v)) extend(*tile, stage.level);
        plan_.stages.push_back(stage);
        // Readers raise the level of what they read only through tiles, which all readers share:
        // extend those read by this stage now that its level is known.
        for (RowTile& tile : plan_.tiles)
            if (tile.first_level < stage.level &&
                std::find(reads_.begin(), reads_.end(), tile.value) != reads_.end())
                extend(tile, stage.level);
        reads_.clear();
        return {};
    }

    /// Reductions store elements one by one, not in the pairs that f16 in shared memory needs.
    Status check_half_tiles() const {
        for (const RowTile& tile : plan_.tiles) {
            const auto maker = stage_of_.find(tile.value);
            if (tile.is_half() && maker != stage_of_.end() && rowwise_.contains(tile.value))
                return unsupported("a factor of a product is made by a reduction");
        }
        return {};
    }

    Status classify(const Group& group, NetworkStage& stage) const {
        for (NodeId n : group.nodes) {
            const Node& node = graph_.nodes[n];
            if (node.op->op_class == OpClass::kMatmul) {
                stage.node = &node;
                const bool is_gradient = node.op->traits.is_partial_sum;
                stage.kind = is_gradient ? NetworkStageKind::kGradient : NetworkStageKind::kProduct;
                if (is_gradient ? !sums_rows(graph_, node, region_.rows)
                                : node.attrs.flag("transpose_a"))
                    return unsupported("a sum over its rows is not in parts");
            } else if (node.op->traits.is_partial_sum) {
                stage.node = &node;
                stage.kind = NetworkStageKind::kRowSum;
            } else if (sums_rows(graph_, node, region_.rows)) {
                return unsupported("a sum over its rows is not in parts");
            }
        }
        const bool is_sum =
            stage.kind == NetworkStageKind::kGradient || stage.kind == NetworkStageKind::kRowSum;
        if (is_sum && (group.nodes.size() != 1 || group.stores.size() != 1))
            return unsupported("a sum over its rows is fused with something else");
        if (group.kind == GroupKind::kReduction) stage.kind = NetworkStageKind::kReduction;
        if (group.kind == GroupKind::kCustom) {
            stage.kind = NetworkStageKind::kWalk;
            stage.node = &graph_.nodes[group.nodes[0]];
            if (group.nodes.size() != 1 || !walks_windows(*stage.node))
                return unsupported("a walk through its windows is fused with something else");
        }
        for (NodeId n : group.nodes)
            for (ValueId v : graph_.nodes[n].outputs)
                if (!is_sum && row_width(v) > kMaxWidth)
                    return unsupported("a row of %" + std::to_string(v) + " has " +
                                       std::to_string(row_width(v)) + " elements");
        return {};
    }

    int64_t row_width(ValueId v) const {
        Shape inner = graph_.value(v).shape;
        inner.erase(0);
        return inner.element_count().count;
    }

    RowTile* find_tile(ValueId v) {
        for (RowTile& tile : plan_.tiles)
            if (tile.value == v) return &tile;
        return nullptr;
    }

    RowTile& tile_for(ValueId v) {
        if (RowTile* known = find_tile(v)) return *known;
        plan_.tiles.push_back({.value = v, .width = static_cast<int>(row_width(v))});
        return plan_.tiles.back();
    }

    static void extend(RowTile& tile, uint32_t level) {
        tile.first_level = std::min(tile.first_level, level);
        tile.last_level = std::max(tile.last_level, level);
    }

    /// `stage` loads `v`, if another stage computes it from shared memory.
    void read(ValueId v, NetworkStage& stage) {
        const auto maker = stage_of_.find(v);
        if (maker == stage_of_.end()) {
            // Not computed here; but a fill may have brought its rows.
            if (find_tile(v) == nullptr) return;
            stage.level = std::max(stage.level, filled_[v] + 1);
            reads_.push_back(v);
            return;
        }
        const uint32_t made = plan_.stages[maker->second].level;
        stage.level = std::max(stage.level, made + 1);
        extend(tile_for(v), made);
        reads_.push_back(v);
    }

    /// Rows of an input with few columns come into shared memory at the start: a stage that read them
    /// where it needs them would wait for memory.
    void bring(ValueId v) {
        constexpr int64_t kMostColumns = 8;
        const Value& value = graph_.value(v);
        if (plan_.edge != 0 || value.kind != ValueKind::kInput || value.shape.rank() == 0 ||
            value.shape[0] != region_.rows || size_bytes(value.dtype) != sizeof(float) ||
            row_width(v) > kMostColumns || find_tile(v) != nullptr)
            return;
        add_fill(v, first_level_);
    }

    void add_fill(ValueId v, uint32_t level) {
        extend(tile_for(v), level);
        filled_[v] = level;
        plan_.stages.push_back(
            {.kind = NetworkStageKind::kFill, .left = index_of(v), .level = level});
    }

    /// Small weights are read from shared memory, unless they are a product's.
    void add_vector(ValueId v) {
        constexpr int64_t kMostElements = 1024, kMostInAll = 2048;
        const Value& value = graph_.value(v);
        const bool is_weight =
            value.kind == ValueKind::kParam || value.kind == ValueKind::kState ||
            value.kind == ValueKind::kConstant ||
            (value.kind == ValueKind::kNode && !region_.has(value.node) && plan_.edge == 0);
        const Dim count = value.shape.element_count();
        if (!is_weight || value.dtype != DType::kF32 || count.is_batch || count.count < 1 ||
            count.count > kMostElements || is_multiplied(v))
            return;
        int64_t in_all = count.count;
        for (const RowVector& known : plan_.vectors) {
            if (known.value == v) return;
            in_all += known.count;
        }
        if (in_all <= kMostInAll)
            plan_.vectors.push_back({.value = v, .count = static_cast<int>(count.count)});
    }

    bool is_multiplied(ValueId v) const {
        return std::any_of(region_.nodes.begin(), region_.nodes.end(), [&](NodeId n) {
            const Node& node = graph_.nodes[n];
            if (node.op->op_class != OpClass::kMatmul) return false;
            const Node* maker = graph_.producer(node.inputs[1]);
            return node.inputs[1] == v ||
                   (maker != nullptr && maker->op->is_cast && maker->inputs[0] == v);
        });
    }

    /// The tile of a value that `stage` multiplies; values that no stage makes are filled in.
    int factor(ValueId v, NetworkStage& stage) {
        const bool is_made = stage_of_.contains(v);
        RowTile* known = find_tile(v);
        if (!is_made && known == nullptr) {
            uint32_t level = first_level_;
            for (ValueId in : inputs_behind(v))
                if (const auto maker = stage_of_.find(in); maker != stage_of_.end()) {
                    const uint32_t made = plan_.stages[maker->second].level;
                    level = std::max(level, made + 1);
                    extend(tile_for(in), made);
                    extend(tile_for(in), level);
                }
            add_fill(v, level);
        }
        if (is_made)
            read(v, stage);
        else
            stage.level = std::max(stage.level, filled_[v] + 1);
        RowTile& tile = tile_for(v);
        tile.is_factor = true;
        reads_.push_back(v);
        return index_of(v);
    }

    /// What the expression of an inlined value loads.
    std::vector<ValueId> inputs_behind(ValueId v) const {
        const Value& value = graph_.value(v);
        if (value.kind != ValueKind::kNode) return {};
        Group just{.nodes = {value.node}};
        return loads_of(graph_, just, inlined_);
    }

    int index_of(ValueId v) const {
        for (size_t i = 0; i < plan_.tiles.size(); ++i)
            if (plan_.tiles[i].value == v) return static_cast<int>(i);
        return -1;
    }

    void add_weight(NetworkStage& stage) {
        const Node& node = *stage.node;
        const Shape& shape = graph_.value(node.inputs[1]).shape;
        const bool is_dot = node.attrs.flag("transpose_b");
        RowWeight weight{.value = node.inputs[1], .is_dot = is_dot};
        const Dim inner = shape[is_dot ? 1 : 0], outer = shape[is_dot ? 0 : 1];
        weight.inner = static_cast<int>(inner.count);
        weight.outer = static_cast<int>(outer.count);
        weight.half_edge = plan_.edge;
        for (size_t w = 0; w < plan_.weights.size() && plan_.edge != 0 && weight.same_as < 0; ++w)
            if (plan_.weights[w].value == weight.value) weight.same_as = static_cast<int>(w);
        stage.weight = static_cast<int>(plan_.weights.size());
        plan_.weights.push_back(weight);
    }

    // ------------------------------------------------------------------------ shared memory

    Status place() {
        const auto capacity = static_cast<int64_t>(options_.rows_capacity);
        const int64_t rows = region_.rows.resolve(capacity);
        const auto window = static_cast<int>(region_.window);
        const int least = std::max({plan_.edge, window, 1});
        int wanted = plan_.parts != 0    ? plan_.granule
                     : rows <= kFewRows  ? std::max(few_rows(rows), plan_.edge)
                     : rows <= kSomeRows ? 32
                                         : 64;
        if (window > 1)
            wanted = window * static_cast<int>(std::bit_floor(
                                  static_cast<uint32_t>(std::max(wanted / window, 1))));
        // The largest tiles up to those first, then larger ones, which only tuning tries.
        std::vector<Placing> all;
        const auto add = [&](int tile_rows) {
            if ((plan_.granule % tile_rows != 0 && plan_.parts != 0) || tile_rows % window != 0)
                return;
            for (const RowWeights mode :
                 {RowWeights::kHeld, RowWeights::kOnce, RowWeights::kAhead, RowWeights::kChunked})
                if (place_with(tile_rows, mode)) all.push_back({tile_rows, mode});
        };
        for (int tile_rows = wanted; tile_rows >= least; tile_rows /= 2) add(tile_rows);
        if (all.empty())
            return out_of_range("the activations of " + std::to_string(least) +
                                (least == 1 ? " row and " : " rows and ") +
                                std::to_string(kLeastChunk) +
                                " lines of each layer's weights do not fit " +
                                std::to_string(options_.caps.max_compute_shared_memory_size) +
                                " bytes of shared memory");
        for (int tile_rows = 2 * wanted; tile_rows <= kMostTileRows; tile_rows *= 2) add(tile_rows);
        size_t chosen = 0;
        for (size_t i = 0; i < all.size(); ++i) {
            plan_.variants.push_back(all[i].text());
            if (plan_.variants[i] == variant_) chosen = i;
        }
        const Placing& placing = all[chosen];
        HEARTH_ASSERT(place_with(placing.tile_rows, placing.mode));
        const int64_t most = plan_.parts != 0 ? chunk_of(rows) : placing.tile_rows;
        plan_.is_single = plan_.parts != 0 && most <= placing.tile_rows;
        return {};
    }

    /// How many rows a workgroup has at a time, and when it gets weights.
    struct Placing {
        int tile_rows;
        RowWeights mode;

        std::string text() const {
            constexpr const char* kModes[] = {"held", "at once", "ahead", "in chunks"};
            return "tiles of " + std::to_string(tile_rows) + " rows, weights " +
                   kModes[static_cast<size_t>(mode)];
        }
    };

    /// Enough workgroups for a large GPU, where rows are few.
    static int few_rows(int64_t rows) { return rows <= 256 ? 2 : rows <= 512 ? 4 : 8; }

    int64_t chunk_of(int64_t rows) const {
        const int64_t least = (rows + plan_.parts - 1) / plan_.parts;
        return (least + plan_.granule - 1) / plan_.granule * plan_.granule;
    }

    bool place_with(int tile_rows, RowWeights mode) {
        plan_.tile_rows = tile_rows;
        plan_.mode = mode;
        const uint32_t most = std::bit_floor(max_workgroup_size(options_.caps));
        plan_.threads = static_cast<int>(std::min<uint32_t>(tile_rows <= 8 ? 128 : 256, most));
        if (plan_.edge != 0) {
            // A matrix of a 64 wide layer for each subgroup.
            const auto size = static_cast<int>(options_.caps.subgroup_size);
            plan_.subgroups = tile_rows <= plan_.edge ? 4 : 8;
            while (plan_.subgroups * size > static_cast<int>(most)) plan_.subgroups /= 2;
            plan_.threads = plan_.subgroups * size;
        }
        if (mode == RowWeights::kHeld && !hold_weights()) return false;
        if (mode != RowWeights::kChunked) return place_chunks(kMaxWidth);
        for (int chunk : {kMaxWidth, 128, 64, 32, 16, kLeastChunk})
            if (chunk >= plan_.edge && place_chunks(chunk)) return true;
        return false;
    }

    /// Divides the weights among the registers of threads.  Few rows leave a thread little to do
    /// with a weight, so that shared memory would be busy with bringing weights; and there are the
    /// more threads to hold them.
    bool hold_weights() {
        constexpr int kMostRows = 8, kMostHeldFloats = 128, kWideWeights = 8192;
        const auto most_floats = static_cast<int>(std::min<int64_t>(
            kMostHeldFloats, int64_t{device_model(options_.caps).registers} - kOtherRowRegisters));
        if (plan_.edge != 0 || plan_.tile_rows > kMostRows) return false;
        int widest = 0;
        for (const RowWeight& w : plan_.weights) widest = std::max(widest, w.inner * w.outer);
        const int wanted = widest > kWideWeights ? 512 : 256;
        plan_.threads = static_cast<int>(std::min<uint32_t>(
            static_cast<uint32_t>(wanted), std::bit_floor(max_workgroup_size(options_.caps))));
        for (RowWeight& w : plan_.weights) {
            w.slices = 1;
            while (2 * w.slices * w.outer <= plan_.threads && 2 * w.slices <= w.inner_quads())
                w.slices *= 2;
            w.held_quads = (w.inner_quads() + w.slices - 1) / w.slices;
        }
        for (uint32_t ahead : {2u, 1u, 0u})
            if (most_held_floats(ahead) <= most_floats) return true;
        return false;
    }

    /// Registers of a thread if weights are fetched so many levels ahead.
    int most_held_floats(uint32_t ahead) {
        std::vector<int> at_level(plan_.levels, 0);
        for (RowWeight& w : plan_.weights) {
            w.fetch_level = w.level - std::min(w.level, ahead);
            const int rounds = (w.outer * w.slices + plan_.threads - 1) / plan_.threads;
            for (uint32_t l = w.fetch_level; l <= w.level; ++l)
                at_level[l] += 4 * rounds * w.held_quads;
        }
        return *std::max_element(at_level.begin(), at_level.end());
    }

    bool place_chunks(int chunk) {
        struct Block {
            int size;
            uint32_t first, last;
            int* offset;
        };
        std::vector<Block> blocks;
        const uint32_t end = plan_.levels;
        blocks.push_back({round_up(plan_.threads, 4), 0, end, &plan_.scratch_offset});
        if (plan_.edge != 0) {
            plan_.matrix_stride = static_cast<int>(options_.caps.cooperative_matrix_shape.n) + 4;
            blocks.push_back({plan_.subgroups * plan_.matrix_stride *
                                  static_cast<int>(options_.caps.cooperative_matrix_shape.m),
                              0, end, &plan_.matrix_offset});
        }
        for (RowVector& v : plan_.vectors)
            blocks.push_back({round_up(v.count, 4), 0, end, &v.offset});
        for (RowTile& t : plan_.tiles)
            blocks.push_back(
                {round_up(t.stride * plan_.tile_rows, 4), t.first_level, t.last_level, &t.offset});
        for (RowWalk& w : plan_.walks) {
            w.walk = GruWalk::of(w.is_backward, w.hidden, region_.window,
                                 plan_.tile_rows / static_cast<int>(region_.window), plan_.threads,
                                 options_.caps);
            if (w.walk.shared_floats() * 4 > options_.caps.max_compute_shared_memory_size)
                return false;
            blocks.push_back({round_up(static_cast<int>(w.walk.shared_floats()), 4), w.level,
                              w.level, &w.offset});
        }
        for (RowWeight& w : plan_.weights) {
            if (plan_.mode == RowWeights::kHeld) {
                if (w.slices > 1)
                    blocks.push_back({round_up(plan_.tile_rows * w.outer * w.slices, 4), w.level,
                                      w.level, &w.offset});
                continue;
            }
            w.chunk = std::min(chunk, round_up(w.inner, w.edge()));
            w.stride = w.half_edge != 0 ? padded_half_stride(w.line_width())
                       : w.is_dot       ? padded_stride(w.chunk)
                                        : w.padded_outer();
            if (plan_.mode == RowWeights::kOnce && w.same_as >= 0) continue;
            const uint32_t first = plan_.mode == RowWeights::kOnce    ? 0
                                   : plan_.mode == RowWeights::kAhead ? w.level - 1
                                                                      : w.level;
            const uint32_t last = plan_.mode == RowWeights::kOnce ? end : w.level;
            blocks.push_back({w.stride * w.padded_lines(), first, last, &w.offset});
        }
        std::vector<uint64_t> sizes;
        std::vector<Lifetime> lifetimes;
        for (const Block& block : blocks) {
            sizes.push_back(static_cast<uint64_t>(block.size));
            lifetimes.push_back({block.first, block.last});
        }
        const Placement placement =
            place_in_order(sizes, lifetimes, largest_first(sizes), Gap::kFirst);
        // Numbers are folded in memory of their own.
        const bool has_numbers =
            std::any_of(groups_.begin(), groups_.end(),
                        [](const Group* group) { return !group->replicated_scalars.empty(); });
        const auto limit = static_cast<int>(options_.caps.max_compute_shared_memory_size / 4) -
                           (has_numbers ? plan_.threads : 0);
        plan_.shared_floats = static_cast<int>(placement.size);
        if (plan_.shared_floats > limit) return false;
        for (size_t b = 0; b < blocks.size(); ++b)
            *blocks[b].offset = static_cast<int>(placement.offsets[b]);
        for (RowWeight& w : plan_.weights)
            if (plan_.mode == RowWeights::kOnce && w.same_as >= 0)
                w.offset = plan_.weights[static_cast<size_t>(w.same_as)].offset;
        return true;
    }

    static constexpr int kLeastChunk = 8, kMostTileRows = 64;

    const Graph& graph_;
    const RowRegion& region_;
    std::span<const Group* const> groups_;
    const std::vector<bool>& inlined_;
    const LowerOptions& options_;
    std::string_view variant_;
    NetworkPlan plan_;
    std::map<ValueId, uint32_t> stage_of_;  ///< of values that the region's groups store
    std::map<ValueId, uint32_t> filled_;    ///< level of the fill of other values
    std::set<ValueId> rowwise_;             ///< values that reductions store
    std::vector<ValueId> reads_;            ///< of the stage being added
    uint32_t first_level_ = 0;              ///< of the network whose groups are being added
};

}  // namespace

bool passes_through_memory(const Graph& graph, ValueId v) {
    const Node* maker = graph.producer(v);
    return maker != nullptr && maker->op->traits.walk == WindowWalk::kForward &&
           maker->outputs[kGruGates] == v;
}

const RowTile* NetworkPlan::tile_of(ValueId value, uint32_t level) const {
    for (const RowTile& tile : tiles)
        if (tile.value == value && tile.first_level < level && level <= tile.last_level)
            return &tile;
    return nullptr;
}

const RowTile* NetworkPlan::tile_for(ValueId value) const {
    for (const RowTile& tile : tiles)
        if (tile.value == value) return &tile;
    return nullptr;
}

Result<NetworkPlan> plan_rows(const Graph& graph, const RowRegion& region,
                              std::span<const Group* const> groups,
                              const std::vector<bool>& inlined, const LowerOptions& options,
                              std::string_view variant) {
    const auto plan_with = [&](int edge) {
        return RowPlanner(graph, region, groups, inlined, options, variant, edge);
    };
    const auto edge = static_cast<int>(matrix_edge(options.caps));
    Status in_registers;
    if (may_keep_in_registers(graph, region, options.rows_capacity, options.caps)) {
        Result<NetworkPlan> plan = plan_with(edge).run_in_registers();
        if (plan.ok()) return plan;
        in_registers = plan.status();
    }
    if (fits_matrix_cores(graph, region, options.caps)) {
        Result<NetworkPlan> plan = plan_with(edge).run();
        if (plan.ok()) return plan;
    }
    Result<NetworkPlan> plan = plan_with(0).run();
    // What walks keep of all steps takes more room than one tile of rows leaves to several networks.
    if (!plan.ok() && region.window > 1) plan = plan_with(0).run(true);
    if (plan.ok() || in_registers.ok()) return plan;
    return Status(plan.status().code(), in_registers.message() + "; " + plan.status().message());
}

}  // namespace hearth
