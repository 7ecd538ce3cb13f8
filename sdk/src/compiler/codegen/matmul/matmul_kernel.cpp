// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/matmul/matmul_kernel.hpp"

#include "compiler/codegen/matmul/matmul_functions.hpp"
#include "compiler/codegen/matmul/matmul_tiles.hpp"
#include "compiler/codegen/shared/extents.hpp"
#include "compiler/codegen/shared/fold.hpp"
#include "compiler/codegen/shared/group_expressions.hpp"
#include "compiler/codegen/shared/index_analysis.hpp"
#include "compiler/fusion/matmul_prologue.hpp"
#include "compiler/kernel/body.hpp"
#include "compiler/kernel/writer.hpp"
#include "compiler/print/glsl_elements.hpp"
#include "compiler/print/glsl_expressions.hpp"
#include "compiler/shaders/define.hpp"
#include "compiler/shaders/shader_text.hpp"
#include "core/device_model.hpp"
#include "core/driver_workarounds.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace hearth {

namespace {

/// An operand that lies in memory as it is read, but for the order of its axes.
struct MemoryView {
    DType dtype = DType::kF32;
    Dim contiguous;                  ///< extent along which neighbours are neighbours in memory
    bool is_swapped = false;         ///< by a view
    bool is_cast = false;            ///< to the operand's type, once
    const Node* unpacked = nullptr;  ///< that makes the elements of packed words
};

const char* bool_text(bool value) {
    return value ? "true" : "false";
}

/// Defines ROLLED, which heads loops that drivers on the CPU had better not unroll.  They do unroll
/// loops of up to 32 turns, and a load is a loop over lanes there: what compiles in 70 ms as loops
/// takes 240 ms unrolled and runs no faster.
std::string rolled_loops(const DeviceCaps& caps) {
    return kRolledLoops.is_needed(caps) ? "#extension GL_EXT_control_flow_attributes : require\n"
                                          "#define ROLLED [[dont_unroll]]\n"
                                        : "#define ROLLED\n";
}

class MatmulKernel {
  public:
    MatmulKernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                 const LowerOptions& options)
        : graph_(graph),
          group_(group),
          options_(options),
          node_(node_of(graph, group, OpClass::kMatmul)),
          functions_(graph, group, inlined, options, *body_),
          expressions_(functions_.expressions()),
          arena_(expressions_.arena()),
          batch_(functions_.extents().batch),
          m_(functions_.extents().m),
          n_(functions_.extents().n),
          k_(functions_.extents().k) {
        const bool folds_rows = std::ranges::any_of(
            group.nodes, [&](NodeId n) { return graph.nodes[n].op->op_class == OpClass::kReduce; });
        if (folds_rows)
            prologue_ =
                find_matmul_prologue(graph, static_cast<NodeId>(&node_ - graph.nodes.data()));
    }

    KernelDraft run(const MatmulTile& tile) {
        kernel_.name = "matmul";
        const MatmulProblem problem = describe();
        is_row_ = tile.family == MatmulFamily::kGemv;
        // Where an invocation stores four elements at most.
        is_early_ =
            tile.family == MatmulFamily::kMatrix && tile.split > 1 &&
            tile.tm == static_cast<int>(options_.caps.cooperative_matrix_shape.m) &&
            stores_by_fours() &&
            tile.tm * tile.tn / 4 <= tile.split * static_cast<int>(options_.caps.subgroup_size);
        kernel_.head = constants(tile, problem);
        if (tile.family != MatmulFamily::kTiled) kernel_.head += chunk_types(problem, tile.family);
        if (prologue_) add_prologue(tile, problem);
        for (size_t input = prologue_ ? 1 : 0; input < 2; ++input) add_loads(input, tile.family);
        add_stores(tile.family);
        kernel_.is_elementwise = functions_.is_elementwise();
        kernel_.has_matrices = is_on_matrices(tile.family);
        if (kernel_.has_matrices) kernel_.text = shader_text("matmul/slices.glsl");
        if (prologue_) {
            add_make_rows();
            kernel_.ahead_of_last = std::move(kernel_.text);
        }
        kernel_.text += shader_text(text_of(tile.family));
        set_functions(kernel_, body_);
        for (const Dim count : {batch_.element_count(), m_, n_, k_})
            kernel_.buffers.uses_rows |= count.is_batch;
        if (tile.family == MatmulFamily::kWorkgroup)
            kernel_.workgroup_matrix = {static_cast<uint32_t>(tile.tm),
                                        static_cast<uint32_t>(tile.tn),
                                        static_cast<uint32_t>(tile.bk)};
        kernel_.local_size = {static_cast<uint32_t>(threads_of(tile, options_.caps)), 1, 1};
        kernel_.grid[0] = {work_of(n_), static_cast<uint32_t>(tile.bn)};
        kernel_.grid[1] = tiles_axis(m_, tile.bm);
        kernel_.grid[2] = tiles_axis(batch_.element_count(), 1);
        const int64_t products = node_.attrs.has("parts") ? 1 : problem.batch;
        kernel_.flops = static_cast<uint64_t>(2 * problem.m * problem.n * problem.k * products);
        return std::move(kernel_);
    }

    /// The product, as the choice of a tile depends on it.
    MatmulProblem describe() {
        const auto rows = static_cast<int64_t>(options_.rows_capacity);
        for (size_t input = 0; input < 2; ++input) views_[input] = memory_view(input);
        MatmulProblem p;
        p.m = m_.resolve(rows);
        p.n = n_.resolve(rows);
        p.k = k_.resolve(rows);
        p.batch = batch_.element_count(rows);
        p.a_k_is_contiguous = !is_swapped(0);
        p.b_k_is_contiguous = is_swapped(1);
        if (!node_.attrs.has("parts")) {
            p.a_form = form_of(0);
            p.b_form = form_of(1);
        }
        p.fits_grid = static_cast<uint64_t>(std::max(p.m, p.batch)) <= kMostGroupsDeep;
        p.is_integer = !is_floating(dtype_of(0));
        p.can_load_vec4 =
            !p.is_integer && loads_by_fours(0) && loads_by_fours(1) && p.n > 16 && p.m > 16;
        // A product with fewer rows or columns than a matrix would mostly multiply zeros.
        p.can_use_matrices = p.fits_grid &&
                             options_.caps.cooperative_matrix != CooperativeMatrixExt::kNone &&
                             dtype_of(0) == DType::kF16 && dtype_of(1) == DType::kF16 &&
                             p.m >= options_.caps.cooperative_matrix_shape.m &&
                             p.n >= options_.caps.cooperative_matrix_shape.n &&
                             p.k >= options_.caps.cooperative_matrix_shape.k;
        return p;
    }

    /// The shipped choice first.
    std::vector<MatmulTile> tiles() {
        const MatmulProblem problem = describe();
        if (prologue_) {
            const std::optional<MatmulTile> tile = choose_folding_tile(problem, options_.caps);
            HEARTH_ASSERT(tile);  // else the prologue would not be in the group
            return {*tile};
        }
        if (!problem.can_be_tuned()) return {choose_matmul_tile(problem, options_.caps)};
        return matmul_candidates(problem, options_.caps);
    }

    bool can_fold_rows() { return choose_folding_tile(describe(), options_.caps).has_value(); }

  private:
    /// Workgroups for `count` items, so many each, or more where the grid may have no more of them.
    GridAxis tiles_axis(Dim count, int each) const {
        const auto per_group = static_cast<uint32_t>(each);
        return {work_of(count),
                per_group * items_each(count, options_.rows_capacity, kMostGroupsDeep * per_group)};
    }

    bool takes_tiles_in_turn(const MatmulTile& tile) const {
        return tiles_axis(m_, tile.bm).tile != static_cast<uint32_t>(tile.bm) ||
               tiles_axis(batch_.element_count(), 1).tile != 1;
    }

    static std::string_view text_of(MatmulFamily family) {
        switch (family) {
            case MatmulFamily::kVector:
                return "matmul/matmul_vector.comp";
            case MatmulFamily::kMatrix:
                return "matmul/matmul_matrix.comp";
            case MatmulFamily::kWorkgroup:
                return "matmul/matmul_workgroup.comp";
            case MatmulFamily::kGemv:
                return "matmul/matmul_gemv.comp";
            case MatmulFamily::kTiled:
                break;
        }
        return "matmul/matmul_tiled.comp";
    }

    /// MatmulProblem::a_form.
    std::string form_of(size_t input) const {
        if (!views_[input] || views_[input]->unpacked != nullptr) return "";
        const DType in_memory = views_[input]->dtype, read = dtype_of(input);
        if (in_memory == read && (read == DType::kF32 || read == DType::kF16))
            return read == DType::kF32 ? "f32" : "f16";
        return in_memory == DType::kF32 && read == DType::kF16 ? std::string(kCastForm) : "";
    }

    DType dtype_of(size_t input) const { return graph_.values[node_.inputs[input]].dtype; }

    std::string constants(const MatmulTile& t, const MatmulProblem& problem) {
        const bool is_matrix = t.family == MatmulFamily::kMatrix;
        std::string text = define("BM", t.bm) + define("BN", t.bn) + define("BK", t.bk) +
                           define(is_matrix ? "WM" : "TM", t.tm) +
                           define(is_matrix ? "WN" : "TN", t.tn) + define("SPLIT", t.split) +
                           define("THREADS", threads_of(t, options_.caps));
        if (is_matrix) text += define("SUBGROUP", static_cast<int>(options_.caps.subgroup_size));
        if (t.family != MatmulFamily::kTiled) text += define("STAGES", t.stages);
        if (t.family == MatmulFamily::kVector)
            text += define("SUMS_REPLACE_SLICES", sums_replace_slices(t, options_.caps) ? 1 : 0);
        if (is_on_matrices(t.family))
            text += define("TILE_VECTORS",
                           static_cast<int>(shared_bytes_of(t, problem, options_.caps) / 16));
        if (t.family == MatmulFamily::kTiled)
            text +=
                rolled_loops(options_.caps) + define("Number", glsl_type(functions_.number_type()));
        return text + define("STORE_IN_LOOP", t.stores_in_loop ? 1 : 0) +
               define("TILES_IN_TURN", takes_tiles_in_turn(t) ? 1 : 0) +
               define("BATCHES", glsl_count(batch_.element_count())) + define("M", glsl_count(m_)) +
               define("N", glsl_count(n_)) + inner_range() +
               define("M_IS_WHOLE", is_whole(m_, t.bm)) + define("N_IS_WHOLE", is_whole(n_, t.bn)) +
               define("K_IS_WHOLE",
                      node_.attrs.has("parts") ? "false" : is_whole(k_, t.bk * t.stages)) +
               define("A_K_IS_CONTIGUOUS", bool_text(problem.a_k_is_contiguous)) +
               define("B_K_IS_CONTIGUOUS", bool_text(problem.b_k_is_contiguous));
    }

    static std::string is_whole(Dim count, int tile) {
        return !count.is_batch && count.count % tile == 0 ? "true" : "false";
    }

    /// The stretch of the inner extent that one workgroup sums.
    std::string inner_range() {
        const std::string k = glsl_count(k_);
        if (!node_.attrs.has("parts")) return define("K_FIRST", "0") + define("K_END", k);
        const std::string parts = std::to_string(node_.attrs.integer("parts"));
        const std::string granule = std::to_string(node_.attrs.integer("granule"));
        const std::string chunk = "(((" + k + " + " + parts + " - 1) / " + parts + " + " + granule +
                                  " - 1) / " + granule + " * " + granule + ")";
        return define("K_FIRST", "(batch * " + chunk + ")") +
               define("K_END", "min(" + k + ", (batch + 1) * " + chunk + ")");
    }

    /// Whether the operand's last two axes lie the other way round in memory.
    bool is_swapped(size_t input) const {
        const bool swapped = node_.attrs.flag(input == 0 ? "transpose_a" : "transpose_b");
        return swapped != (views_[input] && views_[input]->is_swapped);
    }

    /// How the operand lies in memory; none if its elements are computed, or its last axis in memory
    /// is neither of the product's two.
    std::optional<MemoryView> memory_view(size_t input) const {
        ValueId v = node_.inputs[input];
        MemoryView view;
        int casts = 0;
        auto step = [&](std::string_view name) -> const Node* {
            const Node* producer = graph_.producer(v);
            const bool is_view = producer != nullptr && expressions_.is_computed_here(v) &&
                                 producer->op->name == name;
            return is_view ? producer : nullptr;
        };
        auto skip_casts = [&] {
            for (; const Node* cast = step("cast"); ++casts) v = cast->inputs[0];
        };
        skip_casts();
        if (const Node* swap = step("transpose")) {
            const std::vector<int64_t>& perm = swap->attrs.integers("perm");
            const auto last = static_cast<int64_t>(perm.size()) - 1;
            if (last < 1) return std::nullopt;
            view.is_swapped = perm[perm.size() - 2] == last;
            // The other axes may be in any order: a vector lies along the last one.
            if (!view.is_swapped && perm.back() != last) return std::nullopt;
            v = swap->inputs[0];
        }
        skip_casts();
        const Shape shape = graph_.values[v].shape;
        while (const Node* same = step("reshape")) {
            v = same->inputs[0];
            skip_casts();
        }
        view.unpacked = step("unpack_weights");
        if (view.unpacked == nullptr && expressions_.is_computed_here(v)) return std::nullopt;
        if (casts > (view.unpacked != nullptr ? 0 : 1)) return std::nullopt;
        view.dtype = graph_.values[v].dtype;
        view.is_cast = casts == 1;
        view.contiguous = shape[shape.rank() - 1];
        return view;
    }

    bool loads_vectors(size_t input, int64_t each) const {
        return views_[input] && !views_[input]->contiguous.is_batch &&
               views_[input]->contiguous.count % each == 0;
    }

    bool is_packed_in_blocks_of(size_t input, int64_t each) const {
        return views_[input]->unpacked->attrs.integer("block") % each == 0;
    }

    /// Whether four elements are 16 bytes of f32, 8 of f16, or packed in one word.
    bool loads_by_fours(size_t input) const {
        if (!loads_vectors(input, 4) || !keeps_vectors(4)) return false;
        if (views_[input]->unpacked != nullptr) return is_packed_in_blocks_of(input, 4);
        const DType in_memory = views_[input]->dtype;
        return in_memory == DType::kF32 ? !views_[input]->is_cast || rounds_to_half(input)
                                        : in_memory == DType::kF16;
    }

    /// Whether the operand is f32 in memory and f16 to the product.
    bool rounds_to_half(size_t input) const {
        return views_[input]->is_cast && views_[input]->dtype == DType::kF32 &&
               dtype_of(input) == DType::kF16;
    }

    bool keeps_vectors(int64_t each) const {
        return !node_.attrs.has("parts") || node_.attrs.integer("granule") % each == 0;
    }

    /// Whether eight elements are 16 bytes of f16, 32 of f32 that a cast rounds, or packed in one
    /// block.
    bool loads_by_eights(size_t input) const {
        if (!loads_vectors(input, 8) || !keeps_vectors(8)) return false;
        if (views_[input]->unpacked != nullptr) return is_packed_in_blocks_of(input, 8);
        return views_[input]->dtype == (views_[input]->is_cast ? DType::kF32 : DType::kF16);
    }

    /// In what chunks matmul_gemv.comp reads the operand; kEight: they are gathered.
    Chunk chunk_of(size_t input, bool along_k) const {
        if (!views_[input] || views_[input]->is_cast) return Chunk::kEight;
        Chunk chunk = Chunk::kEight;
        if (const Node* unpacked = views_[input]->unpacked) {
            const bool is_int4 = unpacked->attrs.integer("bits") == 4;
            // Along n a thread would have too many sums.
            if (along_k) chunk = is_int4 ? Chunk::kInt4 : Chunk::kInt8;
            if (!is_packed_in_blocks_of(input, length_of(chunk))) return Chunk::kEight;
        } else if (held(views_[input]->dtype) == DType::kF32) {
            chunk = Chunk::kFour;
        } else if (held(views_[input]->dtype) == DType::kF16) {
            chunk = Chunk::kHalves;
        }
        const int64_t length = length_of(chunk);
        return loads_vectors(input, length) && keeps_vectors(length) ? chunk : Chunk::kEight;
    }

    DType held(DType dtype) const { return device_dtype(dtype, options_.caps.narrow_storage()); }

    /// Which types the text's chunks are of.
    std::string chunk_types(const MatmulProblem& problem, MatmulFamily family) const {
        std::string text;
        if (family == MatmulFamily::kGemv) {
            const bool along_k = problem.b_k_is_contiguous;
            const Chunk chunk = chunk_of(1, along_k);
            text += define("ALONG_K", along_k ? "1" : "0") +
                    define("ChunkOfB", glsl_chunk_type(chunk)) + define("CHUNK", length_of(chunk));
        } else if (is_on_matrices(family)) {
            text += "#define HEARTH_MATRIX_WORDS\n";
            for (size_t input = 0; input < 2; ++input) {
                const std::string name = input == 0 ? "A" : "B";
                const bool are_words = loads_by_eights(input) && !views_[input]->is_cast &&
                                       views_[input]->unpacked == nullptr;
                text += define("Fetch" + name, are_words ? "uvec4" : "Eight") +
                        define("NO_FETCH_" + name,
                               are_words ? "uvec4(0)" : "Eight(vec4(0.0), vec4(0.0))");
            }
        }
        return text + std::string(shader_text("matmul/chunks.glsl"));
    }

    /// The functions by which the text reads an operand.
    void add_loads(size_t input, MatmulFamily family) {
        switch (family) {
            case MatmulFamily::kTiled:
                break;
            case MatmulFamily::kVector:
                return add_chunk_load(input, Chunk::kFour, false);
            case MatmulFamily::kMatrix:
            case MatmulFamily::kWorkgroup:
                if (loads_by_eights(input)) return add_chunk_load(input, Chunk::kEight, true);
                return add_gather(input, Chunk::kEight, is_swapped(input) != (input == 0));
            case MatmulFamily::kGemv:
                return add_row_loads(input);
        }
        (void)functions_.add_load(input);
    }

    void add_row_loads(size_t input) {
        const bool along_k = is_swapped(1);
        if (input == 1) {
            const Chunk chunk = chunk_of(1, along_k);
            if (chunk != Chunk::kEight) return add_chunk_load(1, chunk, true);
            kernel_.head += "#define load_chunk load_b8\n";
            return add_gather(1, Chunk::kEight, along_k);
        }
        if (!along_k) {
            (void)functions_.add_load(0);
            return;
        }
        const Chunk chunk = chunk_of(0, true);
        if (!is_swapped(0) && (chunk == Chunk::kFour || chunk == Chunk::kHalves))
            return add_chunk_load(0, Chunk::kFour, true);
        add_gather(0, Chunk::kFour, true);
    }

    static std::string load_name(size_t input, Chunk chunk) {
        return std::string(input == 0 ? "load_a" : "load_b") + std::to_string(length_of(chunk));
    }

    void add_gather(size_t input, Chunk chunk, bool along_k) {
        const uint32_t load = functions_.add_load(input);
        (void)functions_.add_gather(load_name(input, chunk), input, load, chunk, along_k);
    }

    /// "load_a4(batch, m, k)": four elements from there on; "load_a8(...)", eight, as floats or as they
    /// lie in memory; "load_chunk(...)" of b.  has_counts: the text hands over the extents, too.
    void add_chunk_load(size_t input, Chunk chunk, bool has_counts) {
        const auto [first, second] = MatmulFunctions::axes_of(input);
        const Scalar batch = arena_.symbol(ScalarType::kI32);
        const Scalar i = arena_.symbol(ScalarType::kI32);
        const Scalar j = arena_.symbol(ScalarType::kI32);
        const bool is_row_chunk = is_row_ && input == 1;
        FunctionWriter f = functions_.begin(is_row_chunk ? "load_chunk" : load_name(input, chunk));
        f.bind_parameter("batch", batch);
        f.bind_parameter(first, i);
        f.bind_parameter(second, j);
        const Scalar element =
            expressions_.read(node_.inputs[input], functions_.operand_place(input, batch, i, j));
        const Expr value = chunk_at(f.writer, element, input, chunk);
        if (has_counts)
            for (const char* axis : {first, second})
                (void)f.add_parameter(std::string(axis) + "_count", ScalarType::kI32);
        (void)f.finish_with(value);
    }

    /// What the prologue's functions are functions of.
    struct RowVariables {
        Scalar raw, batch, m, k;
        std::vector<Scalar> folds;  ///< results of reductions, in order
    };

    /// What an operand made of rows reads besides them, four at a time: scale and bias.
    struct RowParams {
        std::vector<Scalar> loads;
        std::vector<uint32_t> fetches;  ///< "fetch_param0(batch, m, k)", ...: four elements
    };

    RowParams row_params(Scalar operand, const RowVariables& v) {
        RowParams params;
        const Scalar variables[] = {v.batch, v.m, v.k};
        const IndexAnalysis analysis(arena_, v.k, v.k, 4);
        for (Scalar load : loads_in(arena_, {&operand, 1})) {
            const ScalarNode node = load.node();
            const Scalar index{&arena_, node.a};
            if (load.type() != ScalarType::kF32 || !reads_only(arena_, index, variables) ||
                analysis.step(index) != 1 || !analysis.is_aligned(index) ||
                !functions_.lies_in_vec4(node.bits))
                continue;
            const std::string name = "param" + std::to_string(params.loads.size());
            FunctionWriter f = functions_.begin("fetch_" + name);
            bind_place(f, v);
            params.fetches.push_back(
                f.finish_with(functions_.load_four(f.writer, node.bits, index)));
            params.loads.push_back(load);
        }
        return params;
    }

    static void bind_place(FunctionWriter& f, const RowVariables& v) {
        f.bind_parameter("batch", v.batch);
        f.bind_parameter("m", v.m);
        f.bind_parameter("k", v.k);
    }

    /// "float name(float raw, int batch, int m, int k, float fold0, ...)", with so many folds.
    uint32_t add_row_function(const std::string& name, ValueId value, const ScalarPlace& place,
                              const RowVariables& variables, size_t fold_count,
                              const RowParams& params = {}) {
        FunctionWriter f = functions_.begin(name);
        f.bind_parameter("raw", variables.raw);
        bind_place(f, variables);
        for (size_t i = 0; i < fold_count; ++i)
            f.bind_parameter("fold" + std::to_string(i), variables.folds[i]);
        for (size_t i = 0; i < params.loads.size(); ++i)
            f.writer.define(params.loads[i],
                            f.add_parameter("param" + std::to_string(i), ScalarType::kF32));
        return f.finish_with(f.writer.emit(expressions_.read(value, place)));
    }

    /// The place in a tensor of whole rows, or of a number of each, of the operand's element.
    ScalarPlace row_place(const Shape& shape, const RowVariables& v) {
        const Scalar row = v.batch * extent_of(arena_, m_) + v.m;
        Shape outer = shape;
        outer[shape.rank() - 1] = Dim(1);
        ScalarPlace place{row * extent_of(arena_, k_) + v.k, coords_of(arena_, {row, {}}, outer)};
        (*place.coords)[shape.rank() - 1] = v.k;
        return place;
    }

    /// "load_raw(batch, m, k)": eight elements of the tensor whose rows are folded.
    uint32_t add_load_raw(const RowVariables& v) {
        const bool is_half = held(graph_.values[prologue_->raw].dtype) == DType::kF16;
        const uint32_t buffer = functions_.operand(prologue_->raw);
        FunctionWriter f = functions_.begin("load_raw");
        bind_place(f, v);
        const Expr index =
            f.writer.emit((v.batch * extent_of(arena_, m_) + v.m) * extent_of(arena_, k_) + v.k);
        return f.finish_with(
            body_->load_chunk(is_half ? Chunk::kHalves : Chunk::kEight, buffer, index));
    }

    /// What matmul_matrix.comp wants where FOLDS_ROWS is defined: "make_rows(batch, first_m, m_count,
    /// k_count)", which puts a's slice, whole rows, where products find it.
    void add_prologue(const MatmulTile& tile, const MatmulProblem& problem) {
        const auto variable = [&](ScalarType type) { return arena_.symbol(type); };
        RowVariables v{variable(ScalarType::kF32),
                       variable(ScalarType::kI32),
                       variable(ScalarType::kI32),
                       variable(ScalarType::kI32),
                       {}};
        const ValueId raw = prologue_->raw;
        expressions_.set_resident([raw, v](ValueId value, const ScalarPlace&) {
            return value == raw ? std::optional<Scalar>(v.raw) : std::nullopt;
        });
        kernel_.head += "#define FOLDS_ROWS\n";
        row_.threads = static_cast<uint32_t>(threads_of(tile, options_.caps));
        row_.lanes = static_cast<int64_t>(row_.threads) / tile.bm;
        row_.width = tile.bk;
        row_.stride = tile.stages * tile.bk / 8 + kMatrixPad;
        row_.vectors = shared_bytes_of(tile, problem, options_.caps) / 16;
        row_.load = add_load_raw(v);
        for (NodeId n : prologue_->nodes) {
            const Node& node = graph_.nodes[n];
            if (node.op->op_class != OpClass::kReduce) continue;
            const size_t i = v.folds.size();
            row_.terms.push_back(add_row_function("term" + std::to_string(i), node.inputs[0],
                                                  row_place(graph_.values[node.inputs[0]].shape, v),
                                                  v, i));
            row_.folds.push_back(node.op->reduce);
            v.folds.push_back(variable(ScalarType::kF32));
            expressions_.define(node.outputs[0], v.folds.back());
        }
        const ValueId operand = node_.inputs[0];
        const ScalarPlace place = functions_.operand_place(0, v.batch, v.m, v.k);
        const RowParams params = row_params(expressions_.read(operand, place), v);
        row_.fetches = params.fetches;
        row_.operand = add_row_function("operand", operand, place, v, v.folds.size(), params);
        expressions_.set_resident({});
    }

    // ------------------------------------------------------------------------ rows that are made

    /// What make_rows() is made of: functions, and how rows are dealt out.
    struct RowParts {
        int64_t lanes = 1;   ///< invocations that hold a row
        int64_t width = 0;   ///< elements of a row
        int64_t stride = 0;  ///< of rows in shared memory, in chunks of eight
        uint32_t threads = 0, vectors = 0;
        uint32_t load = 0, operand = 0;
        std::vector<uint32_t> terms, fetches;
        std::vector<ReduceOp> folds;  ///< one for each of the terms

        int64_t chunks() const { return (width / 8 + lanes - 1) / lanes; }  ///< of an invocation
    };

    /// The names within make_rows().
    struct RowNames {
        Expr batch, m, k_count, lane;
        Expr row;                  ///< its elements, as fours
        std::vector<Expr> folds;   ///< results of reductions so far
        std::vector<Expr> params;  ///< arrays like `row`
    };

    Expr zeros(Chunk chunk) { return body_->fill(chunk, body_->constant(0, ScalarType::kF32)); }

    void add_make_rows() {
        FunctionWriter f = functions_.begin("make_rows");
        KernelWriter& w = f.writer;
        RowNames names;
        names.batch = f.add_parameter("batch", ScalarType::kI32);
        const Expr first_m = f.add_parameter("first_m", ScalarType::kI32);
        const Expr m_count = f.add_parameter("m_count", ScalarType::kI32);
        names.k_count = f.add_parameter("k_count", ScalarType::kI32);
        const Expr thread = w.let("thread", body_->invocation());
        names.lane = w.let("lane", thread % row_.lanes);
        const Expr first = w.let("first", thread - names.lane);
        names.m = w.let(
            "m", body_->operation(ScalarOp::kMin, first_m + thread / row_.lanes, m_count - 1));
        names.row = w.declare_chunks("row", Chunk::kFour, static_cast<uint32_t>(2 * row_.chunks()));
        load_row(w, names);
        for (size_t i = 0; i < row_.fetches.size(); ++i) fetch_param(w, names, i);
        for (size_t i = 0; i < row_.terms.size(); ++i) fold_row(w, names, i, thread, first);
        for_each_of_row(w, names, [&](Expr element, std::span<const Expr> arguments) {
            w.assign(element, body_->call(row_.operand, arguments));
        });
        const Expr u = w.unrolled_for_("u", row_.chunks());
        const Expr chunk = w.let("chunk", u * row_.lanes + names.lane);
        w.if_(chunk < row_.width / 8);
        const Expr tile = body_->global("tile", LocalKind::kShared, ScalarType::kF32, row_.vectors,
                                        Chunk::kHalves);
        const Expr low = body_->index(2) * u;
        w.assign(body_->element(tile, thread / row_.lanes * row_.stride + chunk),
                 body_->join(Chunk::kHalves, body_->element(names.row, low),
                             body_->element(names.row, body_->index(2) * u + 1)));
        w.end();
        w.end();
        (void)f.finish();
    }

    void load_row(KernelWriter& w, const RowNames& names) {
        const Expr u = w.unrolled_for_("u", row_.chunks());
        const Expr k = w.let("k", (u * row_.lanes + names.lane) * 8);
        const Expr place[] = {names.batch, names.m, k};
        const Expr loaded = body_->call(row_.load, place);
        const Expr eight = w.let("eight", select(k < names.k_count, loaded, zeros(loaded.chunk())));
        for (uint32_t half = 0; half < 2; ++half) {
            const Expr at = body_->index(2) * u;
            w.assign(body_->element(names.row, half == 0 ? at : at + 1), body_->part(eight, half));
        }
        w.end();
    }

    /// The first k of the four with this index.
    Expr k_of_four(Expr u, Expr lane) { return (u / 2 * row_.lanes + lane) * 8 + u % 2 * 4; }

    void fetch_param(KernelWriter& w, RowNames& names, size_t index) {
        const auto fours = static_cast<uint32_t>(2 * row_.chunks());
        names.params.push_back(
            w.declare_chunks("param" + std::to_string(index), Chunk::kFour, fours));
        const Expr u = w.unrolled_for_("u", fours);
        const Expr k = w.let("k", k_of_four(u, names.lane));
        const Expr place[] = {names.batch, names.m, k};
        w.assign(body_->element(names.params.back(), u),
                 select(k < names.k_count, body_->call(row_.fetches[index], place),
                        zeros(Chunk::kFour)));
        w.end();
    }

    /// For each of the invocation's elements, `statement` of it and of what functions of it take.
    template <class Statement>
    void for_each_of_row(KernelWriter& w, const RowNames& names, const Statement& statement) {
        const Expr u = w.unrolled_for_("u", 2 * row_.chunks());
        const Expr four = w.let("k_of_four", k_of_four(u, names.lane));
        w.if_(four < names.k_count);
        const Expr j = w.unrolled_for_("j", 4);
        const Expr k = w.let("k", four + j);
        const Expr element = body_->chunk_element(body_->element(names.row, u), j);
        std::vector<Expr> arguments = {element, names.batch, names.m, k};
        arguments.insert(arguments.end(), names.folds.begin(), names.folds.end());
        if (names.folds.size() == row_.terms.size())
            for (const Expr param : names.params)
                arguments.push_back(body_->chunk_element(body_->element(param, u), j));
        statement(element, std::span<const Expr>(arguments));
        w.end();
        w.end();
        w.end();
    }

    /// A reduction of the row: each invocation's elements, then what its neighbours have.
    void fold_row(KernelWriter& w, RowNames& names, size_t index, Expr thread, Expr first) {
        const ReduceOp fold = row_.folds[index];
        const Expr start = body_->constant(fold_start(fold, DType::kF32), ScalarType::kF32);
        const Expr result = w.declare("fold" + std::to_string(index), ScalarType::kF32, start);
        for_each_of_row(w, names, [&](Expr, std::span<const Expr> arguments) {
            w.assign(result, fold_step(fold, result, body_->call(row_.terms[index], arguments)));
        });
        const Expr of_lane =
            body_->global("of_lane", LocalKind::kShared, ScalarType::kF32, row_.threads);
        w.assign(body_->element(of_lane, thread), result);
        w.barrier();
        w.assign(result, body_->element(of_lane, first));
        const Expr l = w.for_("l", body_->index(1), [&](Expr turn) { return turn < row_.lanes; });
        w.assign(result, fold_step(fold, result, body_->element(of_lane, first + l)));
        w.end();
        w.barrier();
        names.folds.push_back(result);
    }

    /// The load of this value in an expression.
    const ScalarNode* find_load(Scalar in, ValueId value) const {
        const ScalarNode& node = arena_.node(in.id);
        if (node.op == ScalarOp::kLoad) return node.bits == value ? &node : nullptr;
        for (uint32_t operand : {node.a, node.b, node.c})
            if (operand < in.id)  // operands come before; what is no operand is 0
                if (const ScalarNode* found = find_load(Scalar{in.arena, operand}, value))
                    return found;
        return nullptr;
    }

    /// The chunk of memory that begins with `element`, which is a load or a cast of one, or is unpacked
    /// of one.  chunk: the type as far as the operand has a choice.
    Expr chunk_at(KernelWriter& writer, Scalar element, size_t input, Chunk chunk) {
        if (const Node* unpacked = views_[input]->unpacked)
            return unpacked_at(writer, element, *unpacked, chunk);
        while (arena_.node(element.id).op != ScalarOp::kLoad)
            element = Scalar{&arena_, arena_.node(element.id).a};
        const ScalarNode node = arena_.node(element.id);
        const uint32_t buffer = functions_.operand(node.bits);
        const Expr index = writer.emit(Scalar{&arena_, node.a});
        const bool is_half = body_->buffers[buffer].held == DType::kF16;
        if (is_half && chunk == Chunk::kEight) chunk = Chunk::kHalves;
        const Expr loaded = body_->load_chunk(chunk, buffer, index);
        const bool is_rounded = chunk == Chunk::kFour && !is_half && rounds_to_half(input);
        return is_rounded ? body_->operation(ScalarOp::kRoundF16, loaded) : loaded;
    }

    /// Packed elements: a chunk of 16 bytes of them with their scale, or as numbers.
    Expr unpacked_at(KernelWriter& writer, Scalar element, const Node& unpacked, Chunk chunk) {
        const ScalarNode* load = find_load(element, unpacked.inputs[0]);
        HEARTH_ASSERT(load != nullptr);
        const Scalar word_index{&arena_, load->a};
        const Expr word = writer.emit(word_index), scale = scale_at(writer, element, unpacked);
        const auto width = static_cast<uint32_t>(unpacked.attrs.integer("bits"));
        Expr four;
        if (chunk == Chunk::kFour && width == 4) {
            // The word's index is the element's over eight.
            const ScalarNode& over_eight = arena_.node(word_index.id);
            HEARTH_ASSERT(over_eight.op == ScalarOp::kDiv);
            four = writer.emit(Scalar{&arena_, over_eight.a}) / 4 % 2;
        }
        return body_->unpack(chunk, width, functions_.operand(unpacked.inputs[0]), word, scale,
                             four);
    }

    /// The scale of an unpacked element, the other factor of which is made of words.
    Expr scale_at(KernelWriter& writer, Scalar element, const Node& unpacked) {
        if (const ScalarNode* load = find_load(element, unpacked.inputs[1])) {
            const Expr index = writer.emit(Scalar{&arena_, load->a});
            return body_->load(functions_.operand(unpacked.inputs[1]), index);
        }
        while (arena_.node(element.id).op != ScalarOp::kMul)
            element = Scalar{&arena_, arena_.node(element.id).a};
        const ScalarNode product = arena_.node(element.id);
        const Scalar first{&arena_, product.a}, second{&arena_, product.b};
        return writer.emit(find_load(first, unpacked.inputs[0]) != nullptr ? second : first);
    }

    /// The functions by which the text stores results.
    void add_stores(MatmulFamily family) {
        if (is_early_) {
            kernel_.head += "#define FETCHES_EARLY\n";
            functions_.add_early_results();
        } else {
            (void)functions_.add_store();
        }
        if (family == MatmulFamily::kVector || is_on_matrices(family))
            functions_.add_store4(stores_by_fours());
    }

    /// Whether four elements along n that begin at a multiple of four are one vector of each value
    /// that is stored.
    bool stores_by_fours() const {
        if (n_.is_batch || n_.count % 4 != 0) return false;
        return std::all_of(group_.stores.begin(), group_.stores.end(), [&](ValueId v) {
            const DType dtype = graph_.values[v].dtype;
            return dtype == DType::kF32 || (dtype == DType::kF16 && held(dtype) == DType::kF16);
        });
    }

    const Graph& graph_;
    const Group& group_;
    const LowerOptions& options_;
    const Node& node_;
    KernelDraft kernel_;
    const std::shared_ptr<Body> body_ = std::make_shared<Body>();
    MatmulFunctions functions_;
    GroupExpressions& expressions_;
    ScalarArena& arena_;
    const Shape& batch_;
    const Dim m_, n_, k_;
    std::optional<MemoryView> views_[2];
    std::optional<MatmulPrologue> prologue_;
    RowParts row_;           ///< where there is a prologue
    bool is_early_ = false;  ///< what follows the product is read before it
    bool is_row_ = false;    ///< the text is matmul_gemv.comp
};

}  // namespace

bool folds_rows(const Graph& graph, const Node& product, const LowerOptions& options) {
    if (device_model(options.caps).keeps_bodies || product.attrs.has("parts")) return false;
    Group alone;
    alone.nodes = {static_cast<NodeId>(&product - graph.nodes.data())};
    const std::vector<bool> inlined(graph.nodes.size());
    return MatmulKernel(graph, alone, inlined, options).can_fold_rows();
}

MatmulProblem matmul_problem(const KernelTask& task) {
    return MatmulKernel(task.graph, task.group, task.inlined, task.options).describe();
}

std::vector<MatmulTile> matmul_tiles(const KernelTask& task) {
    return MatmulKernel(task.graph, task.group, task.inlined, task.options).tiles();
}

KernelDraft matmul_kernel(const KernelTask& task, const MatmulTile& tile) {
    return MatmulKernel(task.graph, task.group, task.inlined, task.options).run(tile);
}

}  // namespace hearth
