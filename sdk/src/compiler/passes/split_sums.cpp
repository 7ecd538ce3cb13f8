// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Split-K: gives long sums enough parallelism. A weight gradient is a matrix product with few
// results and as many terms as there are samples: one workgroup per tile would leave a large GPU
// idle (4,800 us for 64x64 over 65,536 rows on an H200, against 50 with partial sums).

#include "compiler/fusion/row_region.hpp"
#include "compiler/ir/rewrite.hpp"
#include "compiler/ops/op_table.hpp"
#include "compiler/passes/pass.hpp"
#include "core/device_model.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace hearth {

namespace {

constexpr int64_t kManyThreads = 16384;  // enough to hide latency; scales with the device
constexpr int64_t kManyGroups = 256;     // about two per compute unit; scales with the device
constexpr int64_t kShortSum = 8192;      // one workgroup's loop of 32: not worth a barrier
constexpr int64_t kShortProduct = 128;   // inner extent
constexpr int64_t kLeastTerms = 64;      // minimum per partial product
constexpr int64_t kPartGranule = 32;     // terms per part are a multiple: whole vectors and slices

int64_t limited(int64_t parts, const PassOptions& options) {
    return options.most_parts == 0 ? parts : std::min(parts, options.most_parts);
}

Tensor sum_of_parts(const Tensor& parts, const Shape& shape, DType dtype) {
    Tensor sum = apply_one(op("reduce_sum"), {parts}, {{"axes", std::vector<int64_t>{0}}});
    if (parts.dtype() != dtype) sum = apply_one(op("cast"), {sum}, {{"to", dtype}});
    return apply_one(op("reshape"), {sum}, {{"shape", shape}});
}

std::optional<std::vector<Tensor>> split_sum(const Node& node, const Tensor& x, const Shape& result,
                                             const PassOptions& options) {
    const auto rows = static_cast<int64_t>(options.max_batch_size);
    const int64_t many_threads = device_model(options.caps).in_proportion(kManyThreads);
    if (node.op->reduce != ReduceOp::kSum || !is_floating(x.dtype()) || x.rank() == kMaxRank)
        return std::nullopt;
    const int64_t results = std::max<int64_t>(1, result.element_count(rows));
    const int64_t terms = x.shape().element_count(rows) / results;
    if (terms <= kShortSum || results >= many_threads) return std::nullopt;
    const int64_t parts = limited(std::min(many_threads / results, terms / 8), options);
    if (parts < 2) return std::nullopt;
    const Tensor partial = apply_one(op("partial_sum"), {x},
                                     {{"axes", node.attrs.integers("axes")}, {"parts", parts}});
    return std::vector<Tensor>{sum_of_parts(partial, result, x.dtype())};
}

/// True if one workgroup splits the terms among its threads (compiler/codegen/matmul/matmul_tiles.hpp,
/// split). Up to these limits that costs less than a second dispatch that adds up partial sums.
bool is_split_inside(std::span<const Tensor> inputs, const Shape& result, int64_t terms,
                     const PassOptions& options) {
    constexpr int64_t kMostTerms = 512, kMostMatrixTerms = 2048;
    const DeviceCaps& caps = options.caps;
    const auto rows = static_cast<int64_t>(options.max_batch_size);
    const int64_t m = result[0].resolve(rows), n = result[1].resolve(rows);
    const auto are = [&](DType dtype) {
        return inputs[0].dtype() == dtype && inputs[1].dtype() == dtype;
    };
    if (caps.cooperative_matrix != CooperativeMatrixExt::kNone && are(DType::kF16))
        return terms <= kMostMatrixTerms && m >= caps.cooperative_matrix_shape.m &&
               n >= caps.cooperative_matrix_shape.n;
    // True if rows can be loaded as vec4.
    const auto has_fours = [](const Tensor& x) {
        return !x.dim(-1).is_batch && x.dim(-1).count % 4 == 0;
    };
    return terms <= kMostTerms && !is_software(caps) && are(DType::kF32) && m > 16 && n > 16 &&
           has_fours(inputs[0]) && has_fours(inputs[1]);
}

/// saving: parts take at most the memory of the factors, divided by this.
std::optional<std::vector<Tensor>> split_product(const Node& node, std::span<const Tensor> inputs,
                                                 const Value& product, const PassOptions& options,
                                                 int64_t saving) {
    const auto rows = static_cast<int64_t>(options.max_batch_size);
    const Shape& result = product.shape;
    if (node.op->traits.is_partial_sum || !is_floating(product.dtype) || inputs[0].rank() != 2 ||
        inputs[1].rank() != 2)
        return std::nullopt;
    constexpr int64_t kTile = 64, kFewRows = 16;
    const int64_t m = result[0].resolve(rows), n = result[1].resolve(rows);
    // With few rows, a workgroup computes four columns (compiler/codegen/matmul/matmul_tiles.cpp).
    const int64_t columns = m <= kFewRows ? 4 : kTile;
    const int64_t tiles = ((m + kTile - 1) / kTile) * ((n + columns - 1) / columns);
    const int64_t terms = inputs[0].shape()[node.attrs.flag("transpose_a") ? 0 : 1].resolve(rows);
    const int64_t many_groups = device_model(options.caps).in_proportion(kManyGroups);
    if (terms <= kShortProduct || 4 * tiles > many_groups ||
        is_split_inside(inputs, result, terms, options))
        return std::nullopt;
    const int64_t parts =
        limited(std::min({many_groups / std::max<int64_t>(1, tiles), terms / kLeastTerms,
                          terms * (m + n) / std::max<int64_t>(1, saving * m * n)}),
                options);
    if (parts < 2) return std::nullopt;
    Attrs attrs = node.attrs;
    attrs.set("parts", parts);
    attrs.set("granule", kPartGranule);
    const Tensor partial = apply(op("matmul_partial"), inputs, attrs)[0];
    return std::vector<Tensor>{sum_of_parts(partial, result, product.dtype)};
}

constexpr int64_t kMostParts = 128;  // one workgroup per compute unit; scales with the device

/// Granularity of the row ranges of partial sums: the rows that a workgroup carries at a time
/// (docs/design/0002-fused-networks.md, 0008-fused-network-generator.md).
int64_t granule_for(int64_t rows) {
    return rows <= 512 ? 4 : rows <= 1024 ? 8 : rows <= 16384 ? 32 : 64;
}
/// As above, on matrix cores; the minimum with few rows, to get many workgroups.
int64_t matrix_granule_for(int64_t rows, const DeviceCaps& caps) {
    return rows <= 2048 ? matrix_edge(caps) : 2 * matrix_edge(caps);
}

/// Tracks the tensors of a region that products read rounded to f16. Later readers of such a
/// tensor, mostly in the backward pass, then read the rounded copy too, so that a fused network on
/// matrix cores keeps only that one (mixed precision keeps activations in f16).
class RoundedRows {
  public:
    RoundedRows(const Graph& graph, const RowRegion& region) : graph_(graph), region_(region) {}

    /// Returns `node` with rounded operands; nothing if it reads none.
    std::optional<std::vector<Tensor>> narrowed(const Node& node, std::span<const Tensor> inputs) {
        if (is_rounding(node)) {
            const Tensor rounded = apply(*node.op, inputs, node.attrs)[0];
            rounded_.insert_or_assign(node.inputs[0], rounded);
            return std::vector<Tensor>{rounded};
        }
        std::vector<Tensor> read(inputs.begin(), inputs.end());
        bool is_any = false;
        for (size_t i = 0; i < inputs.size(); ++i) {
            const auto known = rounded_.find(node.inputs[i]);
            if (known == rounded_.end() || !multiplied_.contains(node.inputs[i])) continue;
            read[i] = apply_one(op("cast"), {known->second}, {{"to", DType::kF32}});
            is_any = true;
        }
        if (node.op->op_class == OpClass::kMatmul) note_product(node);
        if (!is_any) return std::nullopt;
        return apply(*node.op, read, node.attrs);
    }

    /// The operand for a sum over rows of `v`: rounded if there is a rounded copy.
    Tensor summand(ValueId v, const Tensor& x) const {
        const auto known = rounded_.find(v);
        return known == rounded_.end() || !multiplied_.contains(v) ? x : known->second;
    }

    void note_product(const Node& node) {
        for (ValueId v : node.inputs)
            if (const Node* maker = graph_.producer(v); maker != nullptr && is_rounding(*maker))
                multiplied_.insert(maker->inputs[0]);
    }

  private:
    bool is_rounding(const Node& node) const {
        const auto n = static_cast<NodeId>(&node - graph_.nodes.data());
        return region_.has(n) && node.op->is_cast && node.attrs.dtype("to") == DType::kF16 &&
               graph_.value(node.inputs[0]).dtype == DType::kF32;
    }

    const Graph& graph_;
    const RowRegion& region_;
    std::map<ValueId, Tensor> rounded_;
    std::set<ValueId> multiplied_;
};

/// True if the value's elements, or what is computed of them one by one, are reduced: the norm that
/// clips gradients.
bool is_reduced(const Graph& graph, const std::vector<std::vector<NodeId>>& readers, ValueId v) {
    std::vector<ValueId> open{v};
    std::set<NodeId> seen;
    while (!open.empty()) {
        const ValueId next = open.back();
        open.pop_back();
        for (NodeId n : readers[next]) {
            const Node& node = graph.nodes[n];
            if (node.op->op_class == OpClass::kReduce) return true;
            if ((node.op->op_class == OpClass::kElementwise || node.op->is_reshape) &&
                seen.insert(n).second)
                open.push_back(node.outputs[0]);
        }
    }
    return false;
}

/// True if weight gradients are products of their own, behind the fused network that stores their
/// factors for all rows, and not parts that its workgroups add up. Parts save a level of dispatches
/// where something is computed from all gradients, and pay with memory: as many times all gradients
/// as there are workgroups.
bool leaves_products_whole(const Graph& graph, const RowRegion& region, int64_t rows, int64_t parts,
                           const PassOptions& options) {
    // Below so many bytes of parts nothing was won on an H200 (agents' steps 1.1 to 2.3 times as
    // long, a network of 5 MB of parts 1.01 times).
    constexpr int64_t kMuch = 3 << 20, kLeastSaving = 4;
    const auto readers = readers_of(graph);
    int64_t bytes_of_parts = 0, bytes_of_rows = 0;
    bool is_any_reduced = false;
    for (NodeId n : region.nodes) {
        const Node& node = graph.nodes[n];
        if (node.op->op_class != OpClass::kMatmul || !sums_rows(graph, node, region.rows)) continue;
        const Shape& gradient = graph.value(node.outputs[0]).shape;
        const int64_t in = gradient[0].resolve(rows), out = gradient[1].resolve(rows);
        const auto size = static_cast<int64_t>(size_bytes(graph.value(node.inputs[0]).dtype));
        bytes_of_parts += 4 * parts * in * out;
        bytes_of_rows += size * rows * (in + out);
        is_any_reduced = is_any_reduced || is_reduced(graph, readers, node.outputs[0]);
    }
    // A walk over the steps of a sequence has no time for gradients on its way (235 to 166 us).
    if (options.most_parts != 0 || region.has_walks()) return bytes_of_parts > bytes_of_rows;
    return bytes_of_parts >= kMuch && bytes_of_parts >= kLeastSaving * bytes_of_rows &&
           !is_any_reduced;
}

}  // namespace

Result<Graph> split_rows(const Graph& graph, const PassOptions& options) {
    if (device_model(options.caps).has_few_cores) return graph;
    if (!options.fused_networks) return graph;
    const RowRegion region = find_row_region(graph);
    if (region.empty() ||
        !check_row_layers(graph, region, options.max_batch_size, options.caps).ok())
        return graph;
    const int64_t rows = region.rows.resolve(static_cast<int64_t>(options.max_batch_size));
    const bool on_matrix_cores = fits_matrix_cores(graph, region, options.caps);
    int64_t granule = on_matrix_cores ? matrix_granule_for(rows, options.caps) : granule_for(rows);
    granule = std::max<int64_t>(granule / region.window, 1) * region.window;
    const int64_t most_parts =
        limited(device_model(options.caps).in_proportion(kMostParts), options);
    const int64_t parts = std::clamp<int64_t>((rows + granule - 1) / granule, 1, most_parts);
    const bool are_whole = leaves_products_whole(graph, region, rows, parts, options);
    RoundedRows rounded(graph, region);
    return rewrite(graph,
                   [&](Trace&, const Node& node,
                       std::span<const Tensor> inputs) -> std::optional<std::vector<Tensor>> {
                       const auto n = static_cast<NodeId>(&node - graph.nodes.data());
                       if (!region.has(n)) return std::nullopt;
                       if (!sums_rows(graph, node, region.rows))
                           return on_matrix_cores ? rounded.narrowed(node, inputs) : std::nullopt;
                       const bool is_product = node.op->op_class == OpClass::kMatmul;
                       if (is_product && are_whole) return std::nullopt;
                       Attrs attrs{{"parts", parts}, {"granule", granule}};
                       if (is_product) {
                           attrs.set("by_rows", int64_t{1});
                           attrs.set("transpose_a", int64_t{1});
                           attrs.set("wide", node.attrs.integer("wide"));
                       } else {
                           attrs.set("axes", node.attrs.integers("axes"));
                       }
                       std::vector<Tensor> terms(inputs.begin(), inputs.end());
                       if (on_matrix_cores && is_product) rounded.note_product(node);
                       if (on_matrix_cores && !is_product)
                           terms[0] = rounded.summand(node.inputs[0], terms[0]);
                       const Tensor partial = apply(
                           op(is_product ? "matmul_partial" : "partial_row_sum"), terms, attrs)[0];
                       const Value& sum = graph.value(node.outputs[0]);
                       return std::vector<Tensor>{sum_of_parts(partial, sum.shape, sum.dtype)};
                   });
}

Result<Graph> split_sums(const Graph& graph, const PassOptions& options) {
    if (device_model(options.caps).has_few_cores) return graph;
    // Nodes of a fused network are not split.
    RowRegion region;
    if (options.fused_networks)
        if (Result<RowRegion> found =
                find_split_region(graph, options.max_batch_size, options.caps);
            found.ok())
            region = std::move(*found);
    return rewrite(graph,
                   [&](Trace&, const Node& node,
                       std::span<const Tensor> inputs) -> std::optional<std::vector<Tensor>> {
                       const auto n = static_cast<NodeId>(&node - graph.nodes.data());
                       if (node.outputs.size() != 1 || region.has(n)) return std::nullopt;
                       const Value& result = graph.value(node.outputs[0]);
                       if (node.op->op_class == OpClass::kReduce)
                           return split_sum(node, inputs[0], result.shape, options);
                       if (node.op->op_class != OpClass::kMatmul) return std::nullopt;
                       // A fused network's weight gradients are split for its memory's sake.
                       const bool is_apart = !region.empty() && sums_rows(graph, node, region.rows);
                       return split_product(node, inputs, result, options, is_apart ? 2 : 1);
                   });
}

}  // namespace hearth
