// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "codegen/group_expressions.hpp"
#include "codegen/group_kernels.hpp"
#include "kernels/library.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <span>

namespace hearth {

namespace {

struct Tile {
    int bm, bn, bk, tm, tn;
    bool stores_in_loop = false;
    int threads() const { return (bm / tm) * (bn / tn); }
};

// Largest first.  The first is for products that fill a GPU, the last for a handful of rows.
constexpr Tile kTiles[] = {
    {128, 128, 8, 8, 8}, {64, 64, 16, 4, 4}, {32, 32, 16, 2, 2},
    {64, 16, 16, 2, 2},  {16, 16, 16, 1, 1},
};
// Of matmul_vector.comp: rows and columns of a thread are multiples of four.
constexpr Tile kVectorTiles[] = {
    {256, 128, 8, 16, 8},
    {128, 128, 8, 8, 8},
    {64, 64, 16, 8, 4},
    {32, 32, 16, 4, 4},
};

// For drivers that run on the CPU: a load is a loop over lanes there, so that what counts is
// multiplications for each load, and a few workgroups keep all cores busy.  8x8 sums a thread took
// half the time of 4x4 on llvmpipe.
constexpr Tile kCpuTiles[] = {
    {64, 64, 16, 8, 8, true}, {32, 64, 16, 8, 8, true}, {16, 64, 16, 8, 8, true},
    {64, 16, 16, 8, 4, true}, {32, 16, 16, 8, 4, true}, {16, 16, 16, 4, 4, true},
};

// What every device allows along y and z, and most allow no more (Vulkan 1.2, "Required Limits",
// maxComputeWorkGroupCount).
constexpr uint64_t kMostGroups = 65535;

int64_t tiles_for(const Tile& t, int64_t m, int64_t n) {
    return ((m + t.bm - 1) / t.bm) * ((n + t.bn - 1) / t.bn);
}

/// The largest tile that is not mostly empty and still makes work for a whole GPU.
Tile choose_tile(std::span<const Tile> tiles, int64_t m, int64_t n, int64_t batch,
                 const DeviceCaps& caps) {
    // About one for each multiprocessor of a large GPU.
    const int64_t enough_groups = is_cpu(caps) ? 4 : 128;
    const int64_t small_rows = is_cpu(caps) ? 16 : 32;  // tiles of so many may be mostly empty
    for (const Tile& t : tiles.first(tiles.size() - 1)) {
        const auto shared = static_cast<uint32_t>(t.bk * (t.bm + t.bn + 8) * 4 +
                                                  (t.stores_in_loop ? t.bm * t.bn * 4 : 0));
        if (shared > caps.shared_memory_bytes) continue;
        if (t.threads() > static_cast<int>(caps.max_workgroup_invocations)) continue;
        if (2 * n <= t.bn || (2 * m <= t.bm && t.bm > small_rows)) continue;
        if (tiles_for(t, m, n) * batch < enough_groups && t.bm > small_rows) continue;
        return t;
    }
    return tiles.back();
}

class MatmulKernel {
  public:
    MatmulKernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                 const LowerOptions& options)
        : graph_(graph),
          group_(group),
          options_(options),
          node_(*find_matmul()),
          expressions_(graph, group, inlined),
          arena_(expressions_.arena()) {
        const Shape& out = graph.values[node_.outputs[0]].shape;
        for (int i = 0; i + 2 < out.rank(); ++i) batch_.push_back(out[i]);
        m_ = out[out.rank() - 2];
        n_ = out[out.rank() - 1];
        const Shape& a = graph.values[node_.inputs[0]].shape;
        k_ = a[a.rank() - (node_.attrs.flag("transpose_a") ? 2 : 1)];
    }

    GroupKernel run() {
        kernel_.name = "matmul";
        const auto rows = static_cast<int64_t>(options_.rows_capacity);
        const int64_t m = m_.at(rows), n = n_.at(rows), k = k_.at(rows);
        const int64_t batch = batch_.element_count(rows);
        const bool on_cpu = is_cpu(options_.caps);
        const bool by_fours = !on_cpu && loads_by_fours(0) && loads_by_fours(1) && n > 16 && m > 16;
        const std::span<const Tile> tiles = on_cpu     ? std::span<const Tile>(kCpuTiles)
                                            : by_fours ? std::span<const Tile>(kVectorTiles)
                                                       : kTiles;
        const Tile tile = choose_tile(tiles, m, n, batch, options_.caps);
        std::string text = constants(tile);
        text += load_function(0, by_fours);
        text += load_function(1, by_fours);
        text += store_function();
        kernel_.body = text + std::string(shader_text(by_fours ? "matmul/matmul_vector.comp"
                                                               : "matmul/matmul_tiled.comp"));
        kernel_.local_size = {static_cast<uint32_t>(tile.threads()), 1, 1};
        kernel_.grid[0] = {work_of(n_), static_cast<uint32_t>(tile.bn)};
        kernel_.grid[1] = tiles_axis(m_, tile.bm);
        kernel_.grid[2] = tiles_axis(batch_.element_count(), 1);
        const int64_t products = node_.attrs.has("parts") ? 1 : batch;
        kernel_.flops = static_cast<uint64_t>(2 * m * n * k * products);
        return std::move(kernel_);
    }

  private:
    /// Workgroups for `count` items, so many each, or more where the grid may have no more of them.
    GridAxis tiles_axis(Dim count, int each) const {
        const auto per_group = static_cast<uint32_t>(each);
        return {work_of(count),
                per_group * items_each(count, options_.rows_capacity, kMostGroups * per_group)};
    }

    bool takes_tiles_in_turn(const Tile& tile) const {
        return tiles_axis(m_, tile.bm).tile != static_cast<uint32_t>(tile.bm) ||
               tiles_axis(batch_.element_count(), 1).tile != 1;
    }

    const Node* find_matmul() const {
        for (NodeId n : group_.nodes)
            if (graph_.nodes[n].op->op_class == OpClass::kMatmul) return &graph_.nodes[n];
        HEARTH_ASSERT(false && "a matmul group without a matmul");
        return nullptr;
    }

    std::string constants(const Tile& t) {
        auto constant = [](const char* name, const std::string& value) {
            return std::string("#define ") + name + " " + value + "\n";
        };
        return constant("BM", std::to_string(t.bm)) + constant("BN", std::to_string(t.bn)) +
               constant("BK", std::to_string(t.bk)) + constant("TM", std::to_string(t.tm)) +
               constant("TN", std::to_string(t.tn)) +
               constant("STORE_IN_LOOP", t.stores_in_loop ? "1" : "0") +
               constant("TILES_IN_TURN", takes_tiles_in_turn(t) ? "1" : "0") +
               constant("BATCHES", glsl_count(batch_.element_count(), kernel_.buffers)) +
               constant("M", glsl_count(m_, kernel_.buffers)) +
               constant("N", glsl_count(n_, kernel_.buffers)) + inner_range() +
               constant("M_IS_WHOLE", is_whole(m_, t.bm)) +
               constant("N_IS_WHOLE", is_whole(n_, t.bn)) +
               constant("K_IS_WHOLE", node_.attrs.has("parts") ? "false" : is_whole(k_, t.bk)) +
               constant("A_K_IS_CONTIGUOUS", is_swapped(0) ? "false" : "true") +
               constant("B_K_IS_CONTIGUOUS", is_swapped(1) ? "true" : "false");
    }

    static std::string is_whole(Dim count, int tile) {
        return !count.per_row && count.count % tile == 0 ? "true" : "false";
    }

    /// The stretch of the inner extent that one workgroup sums.
    std::string inner_range() {
        const std::string k = glsl_count(k_, kernel_.buffers);
        if (!node_.attrs.has("parts")) return "#define K_FIRST 0\n#define K_END " + k + "\n";
        const std::string parts = std::to_string(node_.attrs.integer("parts"));
        const std::string granule = std::to_string(node_.attrs.integer("granule"));
        const std::string chunk = "(((" + k + " + " + parts + " - 1) / " + parts + " + " + granule +
                                  " - 1) / " + granule + " * " + granule + ")";
        return "#define K_FIRST (batch * " + chunk + ")\n#define K_END min(" + k +
               ", (batch + 1) * " + chunk + ")\n";
    }

    /// Whether the operand's last two axes lie the other way round in memory.
    bool is_swapped(size_t input) const {
        bool swapped = node_.attrs.flag(input == 0 ? "transpose_a" : "transpose_b");
        const Node* producer = graph_.producer(node_.inputs[input]);
        if (producer != nullptr && producer->op->name == "transpose") {
            const std::vector<int64_t>& perm = producer->attrs.integers("perm");
            if (!perm.empty() && perm.back() != static_cast<int64_t>(perm.size()) - 1)
                swapped = !swapped;
        }
        return swapped;
    }

    /// Whether the operand lies in memory as it is read, with whole vectors of four elements.
    bool loads_by_fours(size_t input) const {
        ValueId v = node_.inputs[input];
        auto view = [&](std::string_view name) -> const Node* {
            const Node* producer = graph_.producer(v);
            const bool is_view = producer != nullptr && expressions_.is_computed_here(v) &&
                                 producer->op->name == name;
            return is_view ? producer : nullptr;
        };
        if (const Node* swap = view("transpose")) {
            std::vector<int64_t> perm = swap->attrs.integers("perm");
            if (perm.size() < 2) return false;
            std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
            if (!std::is_sorted(perm.begin(), perm.end())) return false;
            v = swap->inputs[0];
        }
        const Shape shape = graph_.values[v].shape;
        while (const Node* same = view("reshape")) v = same->inputs[0];
        const Dim contiguous = shape[shape.rank() - 1];
        return !expressions_.is_computed_here(v) && graph_.values[v].dtype == DType::kF32 &&
               !contiguous.per_row && contiguous.count % 4 == 0;
    }

    /// "float load_a(int batch, int m, int k)": the operand's element as the product sees it; or
    /// "vec4 load_a4(...)", from there on.
    std::string load_function(size_t input, bool by_fours) {
        const char* first = input == 0 ? "m" : "k";
        const char* second = input == 0 ? "k" : "n";
        GlslWriter writer(arena_, kernel_.buffers);
        const Scalar batch = arena_.variable(ScalarType::kI32);
        const Scalar i = arena_.variable(ScalarType::kI32);
        const Scalar j = arena_.variable(ScalarType::kI32);
        writer.bind(batch, "batch");
        writer.bind(i, first);
        writer.bind(j, second);
        const Shape& shape = graph_.values[node_.inputs[input]].shape;
        const Coords<Scalar> batch_coords = coords_of(arena_, {batch, {}}, batch_);
        Coords<Scalar> at;
        for (int axis = 0; axis + 2 < shape.rank(); ++axis) {
            const int from = axis + batch_.rank() - (shape.rank() - 2);
            at.axis.push_back(shape[axis].is_one() ? arena_.index(0) : batch_coords[from]);
        }
        const bool transposed = node_.attrs.flag(input == 0 ? "transpose_a" : "transpose_b");
        at.axis.push_back(transposed ? j : i);
        at.axis.push_back(transposed ? i : j);
        const Scalar element = expressions_.read(node_.inputs[input], {{}, at});
        std::string value;
        if (by_fours) {
            const ScalarNode& load = arena_.node(element.id);
            HEARTH_ASSERT(load.op == ScalarOp::kLoad);
            kernel_.vector_loads.push_back(load.bits);
            value = kernel_.buffers.name_of(load.bits) + "v.at[" +
                    writer.emit(Scalar{&arena_, load.a}) + " / 4]";
        } else {
            value = writer.emit(element);
        }
        return std::string(by_fours ? "vec4 " : "float ") + (input == 0 ? "load_a" : "load_b") +
               (by_fours ? "4" : "") + "(int batch, int " + first + ", int " + second + ") {\n" +
               writer.text() + "    return " + value + ";\n}\n";
    }

    std::string store_function() {
        GlslWriter writer(arena_, kernel_.buffers);
        const Scalar batch = arena_.variable(ScalarType::kI32);
        const Scalar m = arena_.variable(ScalarType::kI32);
        const Scalar n = arena_.variable(ScalarType::kI32);
        const Scalar sum = arena_.variable(ScalarType::kF32);
        writer.bind(batch, "batch");
        writer.bind(m, "m");
        writer.bind(n, "n");
        writer.bind(sum, "sum");
        expressions_.define(node_.outputs[0], sum);
        ScalarPlace place;
        // Behind a reshape these coordinates mean nothing; the linear index still does.
        const Shape& space = graph_.values[node_.outputs[0]].shape;
        if (std::all_of(group_.stores.begin(), group_.stores.end(),
                        [&](ValueId v) { return graph_.values[v].shape == space; })) {
            place.coords = coords_of(arena_, {batch, {}}, batch_);
            place.coords->axis.push_back(m);
            place.coords->axis.push_back(n);
        }
        place.linear = (batch * extent(arena_, m_) + m) * extent(arena_, n_) + n;
        store_all(writer, kernel_.buffers, expressions_, group_.stores, place, *place.linear);
        kernel_.is_elementwise = elementwise_buffers(arena_, kernel_.buffers, *place.linear);
        return "void store(int batch, int m, int n, float sum) {\n" + writer.text() + "}\n";
    }

    const Graph& graph_;
    const Group& group_;
    const LowerOptions& options_;
    const Node& node_;
    GroupKernel kernel_;
    GroupExpressions expressions_;
    ScalarArena& arena_;
    Shape batch_;
    Dim m_, n_, k_;
};

}  // namespace

GroupKernel matmul_kernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                          const LowerOptions& options) {
    return MatmulKernel(graph, group, inlined, options).run();
}

}  // namespace hearth
