// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "codegen/group_expressions.hpp"
#include "codegen/group_kernels.hpp"
#include "codegen/matmul_tiles.hpp"
#include "codegen/steps.hpp"
#include "kernels/define.hpp"
#include "kernels/library.hpp"
#include "passes/row_prologue.hpp"

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
        const bool folds_rows = std::ranges::any_of(
            group.nodes, [&](NodeId n) { return graph.nodes[n].op->op_class == OpClass::kReduce; });
        if (folds_rows)
            prologue_ = find_row_prologue(graph, static_cast<NodeId>(&node_ - graph.nodes.data()));
    }

    GroupKernel run() {
        kernel_.name = "matmul";
        const auto rows = static_cast<int64_t>(options_.rows_capacity);
        const MatmulProblem problem = describe(rows);
        const MatmulTile tile = choose_tile(problem);
        is_row_ = tile.family == MatmulFamily::kRow;
        // Where an invocation stores four elements at most.
        is_early_ =
            tile.family == MatmulFamily::kMatrix && tile.split > 1 &&
            tile.tm == static_cast<int>(options_.caps.matrix.m) && stores_by_fours() &&
            tile.tm * tile.tn / 4 <= tile.split * static_cast<int>(options_.caps.subgroup_size);
        std::string text = constants(tile, problem);
        if (tile.family != MatmulFamily::kTiled) text += chunk_types(problem, tile.family);
        if (prologue_) text += prologue_functions(tile);
        for (size_t input = prologue_ ? 1 : 0; input < 2; ++input)
            text += load_functions(input, tile.family);
        text += store_function(tile.family);
        if (is_on_matrices(tile.family)) text += shader_text("matmul/slices.glsl");
        kernel_.body = text + std::string(shader_text(text_of(tile.family)));
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

    bool can_fold_rows() {
        const MatmulProblem problem = describe(static_cast<int64_t>(options_.rows_capacity));
        return choose_folding_tile(problem, options_.caps).has_value();
    }

  private:
    /// The measured choice if there is one, else the shipped one.
    MatmulTile choose_tile(const MatmulProblem& problem) {
        if (prologue_) {
            const std::optional<MatmulTile> tile = choose_folding_tile(problem, options_.caps);
            HEARTH_ASSERT(tile);  // else the prologue would not be in the group
            return *tile;
        }
        if (!problem.can_be_tuned()) return choose_matmul_tile(problem, options_.caps);
        const std::vector<MatmulTile> all = matmul_candidates(problem, options_.caps);
        if (all.size() > 1) kernel_.tunable = problem.key();
        const auto known = options_.variants.find(problem.key());
        if (known == options_.variants.end()) return all[0];
        const std::optional<MatmulTile> tile = parse_matmul_tile(known->second);
        const bool is_one = tile && std::find(all.begin(), all.end(), *tile) != all.end();
        return is_one ? *tile : all[0];
    }

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

    const Node* find_matmul() const {
        for (NodeId n : group_.nodes)
            if (graph_.nodes[n].op->op_class == OpClass::kMatmul) return &graph_.nodes[n];
        HEARTH_ASSERT(false && "a matmul group without a matmul");
        return nullptr;
    }

    static std::string_view text_of(MatmulFamily family) {
        switch (family) {
            case MatmulFamily::kVector:
                return "matmul/matmul_vector.comp";
            case MatmulFamily::kMatrix:
                return "matmul/matmul_matrix.comp";
            case MatmulFamily::kWorkgroup:
                return "matmul/matmul_workgroup.comp";
            case MatmulFamily::kRow:
                return "matmul/matmul_row.comp";
            case MatmulFamily::kTiled:
                break;
        }
        return "matmul/matmul_tiled.comp";
    }

    MatmulProblem describe(int64_t rows) {
        for (size_t input = 0; input < 2; ++input) views_[input] = memory_view(input);
        MatmulProblem p;
        p.m = m_.at(rows);
        p.n = n_.at(rows);
        p.k = k_.at(rows);
        p.batch = batch_.element_count(rows);
        p.a_k_is_contiguous = !is_swapped(0);
        p.b_k_is_contiguous = is_swapped(1);
        if (!node_.attrs.has("parts")) {
            p.a_form = form_of(0);
            p.b_form = form_of(1);
        }
        p.fits_grid = static_cast<uint64_t>(std::max(p.m, p.batch)) <= kMostGroupsDeep;
        p.is_integer = !is_floating(dtype_of(0));
        p.can_load_fours =
            !p.is_integer && loads_by_fours(0) && loads_by_fours(1) && p.n > 16 && p.m > 16;
        // A product with fewer rows or columns than a matrix would mostly multiply zeros.
        p.can_use_matrices = p.fits_grid && options_.caps.matrix_cores != MatrixCores::kNone &&
                             dtype_of(0) == DType::kF16 && dtype_of(1) == DType::kF16 &&
                             p.m >= options_.caps.matrix.m && p.n >= options_.caps.matrix.n &&
                             p.k >= options_.caps.matrix.k;
        return p;
    }

    /// MatmulProblem::a_form.
    std::string form_of(size_t input) const {
        if (!views_[input] || views_[input]->unpacked != nullptr) return "";
        const DType in_memory = views_[input]->dtype, read = dtype_of(input);
        if (in_memory == read && (read == DType::kF32 || read == DType::kF16))
            return read == DType::kF32 ? "f32" : "f16";
        return in_memory == DType::kF32 && read == DType::kF16 ? std::string(kCastForm) : "";
    }

    ScalarType sum_type() const { return scalar_type(graph_.values[node_.outputs[0]].dtype); }
    /// In which the kernel multiplies and adds.
    std::string number_type() const { return std::string(glsl_type(sum_type())); }

    DType dtype_of(size_t input) const { return graph_.values[node_.inputs[input]].dtype; }

    std::string constants(const MatmulTile& t, const MatmulProblem& problem) {
        const bool is_matrix = t.family == MatmulFamily::kMatrix;
        std::string text = define("BM", t.bm) + define("BN", t.bn) + define("BK", t.bk) +
                           define(is_matrix ? "WM" : "TM", t.tm) +
                           define(is_matrix ? "WN" : "TN", t.tn) + define("SPLIT", t.split) +
                           define("THREADS", threads_of(t, options_.caps));
        if (is_matrix) text += define("SUBGROUP", static_cast<int>(options_.caps.subgroup_size));
        if (t.family != MatmulFamily::kTiled) text += define("STAGES", t.stages);
        if (is_on_matrices(t.family))
            text += define("TILE_VECTORS",
                           static_cast<int>(shared_bytes_of(t, problem, options_.caps) / 16));
        if (t.family == MatmulFamily::kTiled)
            text += rolled_loops(options_.caps) + define("Number", number_type());
        return text + define("STORE_IN_LOOP", t.stores_in_loop ? 1 : 0) +
               define("TILES_IN_TURN", takes_tiles_in_turn(t) ? 1 : 0) +
               define("BATCHES", glsl_count(batch_.element_count(), kernel_.buffers)) +
               define("M", glsl_count(m_, kernel_.buffers)) +
               define("N", glsl_count(n_, kernel_.buffers)) + inner_range() +
               define("M_IS_WHOLE", is_whole(m_, t.bm)) + define("N_IS_WHOLE", is_whole(n_, t.bn)) +
               define("K_IS_WHOLE",
                      node_.attrs.has("parts") ? "false" : is_whole(k_, t.bk * t.stages)) +
               define("A_K_IS_CONTIGUOUS", bool_text(problem.a_k_is_contiguous)) +
               define("B_K_IS_CONTIGUOUS", bool_text(problem.b_k_is_contiguous));
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
        return views_[input] && !views_[input]->contiguous.per_row &&
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

    /// A chunk of chunks.glsl.
    struct Chunk {
        int elements;
        const char* type;
    };

    /// In what chunks matmul_row.comp reads the operand.
    Chunk chunk_of(size_t input, bool along_k) const {
        constexpr Chunk kGathered{8, "Eight"};
        if (!views_[input] || views_[input]->is_cast) return kGathered;
        Chunk chunk = kGathered;
        if (const Node* unpacked = views_[input]->unpacked) {
            const bool is_int4 = unpacked->attrs.integer("bits") == 4;
            // Along n a thread would have too many sums.
            if (along_k) chunk = is_int4 ? Chunk{32, "Int4Chunk"} : Chunk{16, "Int8Chunk"};
            if (!is_packed_in_blocks_of(input, chunk.elements)) return kGathered;
        } else if (held(views_[input]->dtype) == DType::kF32) {
            chunk = {4, "vec4"};
        } else if (held(views_[input]->dtype) == DType::kF16) {
            chunk = {8, "uvec4"};
        }
        return loads_vectors(input, chunk.elements) && keeps_vectors(chunk.elements) ? chunk
                                                                                     : kGathered;
    }

    DType held(DType dtype) const { return device_dtype(dtype, options_.caps.narrow_storage()); }

    /// Which types the text's chunks are of.
    std::string chunk_types(const MatmulProblem& problem, MatmulFamily family) const {
        std::string text;
        if (family == MatmulFamily::kRow) {
            const bool along_k = problem.b_k_is_contiguous;
            const Chunk chunk = chunk_of(1, along_k);
            text += define("ALONG_K", along_k ? "1" : "0") + define("ChunkOfB", chunk.type) +
                    define("CHUNK", std::to_string(chunk.elements));
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

    enum class Load { kElement, kFour, kFetch, kChunk };

    /// The functions by which the text reads an operand.
    std::string load_functions(size_t input, MatmulFamily family) {
        switch (family) {
            case MatmulFamily::kTiled:
                break;
            case MatmulFamily::kVector:
                return load_function(input, Load::kFour);
            case MatmulFamily::kMatrix:
            case MatmulFamily::kWorkgroup:
                if (loads_by_eights(input)) return load_function(input, Load::kFetch);
                return load_function(input, Load::kElement) +
                       gather_function(input, 8, is_swapped(input) != (input == 0));
            case MatmulFamily::kRow:
                return row_load_functions(input);
        }
        return load_function(input, Load::kElement);
    }

    std::string row_load_functions(size_t input) {
        const bool along_k = is_swapped(1);
        if (input == 1) {
            if (chunk_of(1, along_k).type != std::string_view("Eight"))
                return load_function(1, Load::kChunk);
            return load_function(1, Load::kElement) + gather_function(1, 8, along_k) +
                   "#define load_chunk load_b8\n";
        }
        if (!along_k) return load_function(0, Load::kElement);
        const std::string_view type = chunk_of(0, true).type;
        if (!is_swapped(0) && (type == "vec4" || type == "uvec4"))
            return load_function(0, Load::kFour);
        return load_function(0, Load::kElement) + gather_function(0, 4, true);
    }

    /// "float load_a(int batch, int m, int k)": the operand's element as the product sees it; or
    /// "vec4 load_a4(...)", from there on, or "FetchA load_a8(...)", or "ChunkOfB load_chunk(...)".
    std::string load_function(size_t input, Load load) {
        const std::string first = input == 0 ? "m" : "k", second = input == 0 ? "k" : "n";
        GlslWriter writer(arena_, kernel_.buffers);
        const Scalar batch = arena_.variable(ScalarType::kI32);
        const Scalar i = arena_.variable(ScalarType::kI32);
        const Scalar j = arena_.variable(ScalarType::kI32);
        writer.bind(batch, "batch");
        writer.bind(i, first);
        writer.bind(j, second);
        const Scalar element =
            expressions_.read(node_.inputs[input], operand_place(input, batch, i, j));
        const std::string value =
            load == Load::kElement ? writer.emit(element) : vector_at(writer, element, input, load);
        const std::string name = input == 0 ? "a" : "b", upper = input == 0 ? "A" : "B";
        std::string head;
        switch (load) {
            case Load::kElement:
                head = number_type() + " load_" + name;
                break;
            case Load::kFour:
                head = "vec4 load_" + name + "4";
                break;
            case Load::kFetch:
                head = "Fetch" + upper + " load_" + name + "8";
                break;
            case Load::kChunk:
                head = "ChunkOfB load_chunk";
                break;
        }
        const bool has_counts = load != Load::kElement && (is_row_ || load == Load::kFetch);
        return head + "(int batch, int " + first + ", int " + second +
               (has_counts ? ", int " + first + "_count, int " + second + "_count" : "") + ") {\n" +
               writer.text() + "    return " + value + ";\n}\n";
    }

    /// The place of the operand's element that the product calls (batch, i, j).
    ScalarPlace operand_place(size_t input, Scalar batch, Scalar i, Scalar j) {
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
        return {{}, at};
    }

    /// What the prologue's functions are functions of.
    struct RowVariables {
        Scalar raw, batch, m, k;
        std::vector<Scalar> folds;  ///< results of reductions, in order
    };

    /// What an operand made of rows reads besides them, four at a time: scale and bias.
    struct RowParams {
        std::vector<Scalar> loads;
        std::string functions;  ///< "vec4 fetch_param0(int batch, int m, int k)", ...
        std::string fetches;    ///< of all that the invocation will want
        std::string arguments;  ///< the present one of each
    };

    RowParams row_params(Scalar operand, const RowVariables& v) {
        RowParams params;
        const Scalar variables[] = {v.batch, v.m, v.k};
        const Steps steps(arena_, v.k, v.k, 4);
        for (Scalar load : loads_in(arena_, {&operand, 1})) {
            const ScalarNode node = load.node();
            const Scalar index{&arena_, node.a};
            if (load.type() != ScalarType::kF32 || !reads_only(arena_, index, variables) ||
                steps.step(index) != 1 || !steps.is_aligned(index))
                continue;
            const DType in_memory = held(graph_.values[node.bits].dtype);
            const bool is_half = in_memory == DType::kF16;
            if (!is_half && in_memory != DType::kF32) continue;
            (is_half ? kernel_.pair_loads : kernel_.vector_loads).push_back(node.bits);
            GlslWriter writer(arena_, kernel_.buffers);
            writer.bind(v.batch, "batch");
            writer.bind(v.m, "m");
            writer.bind(v.k, "k");
            const std::string four = kernel_.buffers.name_of(node.bits) +
                                     (is_half ? "p.at[" : "v.at[") + writer.emit(index) + " / 4]";
            const std::string name = "param" + std::to_string(params.loads.size());
            params.functions += "vec4 fetch_" + name + "(int batch, int m, int k) {\n" +
                                writer.text() + "    return " +
                                (is_half ? "four_of(" + four + ")" : four) + ";\n}\n";
            params.fetches += "vec4 " + name + "[2 * kRowChunks]; FETCH_OF_ROW(" + name +
                              ", fetch_" + name + ") ";
            params.arguments += ", " + name + "[u][j]";
            params.loads.push_back(load);
        }
        return params;
    }

    /// "float name(float raw, int batch, int m, int k, float fold0, ...)", with so many folds.
    std::string row_function(const std::string& name, ValueId value, const ScalarPlace& place,
                             const RowVariables& variables, size_t fold_count,
                             const RowParams& params = {}) {
        GlslWriter writer(arena_, kernel_.buffers);
        writer.bind(variables.raw, "raw");
        writer.bind(variables.batch, "batch");
        writer.bind(variables.m, "m");
        writer.bind(variables.k, "k");
        std::string parameters;
        for (size_t i = 0; i < fold_count; ++i) {
            writer.bind(variables.folds[i], "fold" + std::to_string(i));
            parameters += ", float fold" + std::to_string(i);
        }
        for (size_t i = 0; i < params.loads.size(); ++i) {
            writer.define(params.loads[i], "param" + std::to_string(i));
            parameters += ", float param" + std::to_string(i);
        }
        const std::string result = writer.emit(expressions_.read(value, place));
        return "float " + name + "(float raw, int batch, int m, int k" + parameters + ") {\n" +
               writer.text() + "    return " + result + ";\n}\n";
    }

    /// The place in a tensor of whole rows, or of a number of each, of the operand's element.
    ScalarPlace row_place(const Shape& shape, const RowVariables& v) {
        const Scalar row = v.batch * extent(arena_, m_) + v.m;
        Shape outer = shape;
        outer[shape.rank() - 1] = Dim(1);
        ScalarPlace place{row * extent(arena_, k_) + v.k, coords_of(arena_, {row, {}}, outer)};
        (*place.coords)[shape.rank() - 1] = v.k;
        return place;
    }

    /// Eight elements of the tensor whose rows are folded, as chunks.glsl has them.
    std::string raw_function(const RowVariables& v) {
        const bool is_half = held(graph_.values[prologue_->raw].dtype) == DType::kF16;
        const std::string buffer = kernel_.buffers.name_of(prologue_->raw);
        (is_half ? kernel_.word_loads : kernel_.vector_loads).push_back(prologue_->raw);
        GlslWriter writer(arena_, kernel_.buffers);
        writer.bind(v.batch, "batch");
        writer.bind(v.m, "m");
        writer.bind(v.k, "k");
        const std::string index =
            writer.emit((v.batch * extent(arena_, m_) + v.m) * extent(arena_, k_) + v.k);
        const std::string four = buffer + "v.at[" + index + " / 4";
        return std::string("#define NO_RAW ") +
               (is_half ? "uvec4(0)\nuvec4" : "Eight(vec4(0.0), vec4(0.0))\nEight") +
               " load_raw(int batch, int m, int k) {\n" + writer.text() + "    return " +
               (is_half ? buffer + "w.at[" + index + " / 8]"
                        : "Eight(" + four + "], " + four + " + 1])") +
               ";\n}\n#define Raw " + (is_half ? "uvec4" : "Eight") + "\n";
    }

    /// What matmul_matrix.comp wants where FOLDS_ROWS is defined.
    std::string prologue_functions(const MatmulTile& tile) {
        const auto variable = [&](ScalarType type) { return arena_.variable(type); };
        RowVariables v{variable(ScalarType::kF32),
                       variable(ScalarType::kI32),
                       variable(ScalarType::kI32),
                       variable(ScalarType::kI32),
                       {}};
        const ValueId raw = prologue_->raw;
        expressions_.set_resident([raw, v](ValueId value, const ScalarPlace&) {
            return value == raw ? std::optional<Scalar>(v.raw) : std::nullopt;
        });
        const int lanes = threads_of(tile, options_.caps) / tile.bm;
        std::string text = "#define FOLDS_ROWS\n#define ROW_LANES " + std::to_string(lanes) + "\n" +
                           raw_function(v),
                    steps, names;
        for (NodeId n : prologue_->nodes) {
            const Node& node = graph_.nodes[n];
            if (node.op->op_class != OpClass::kReduce) continue;
            const size_t i = v.folds.size();
            const std::string number = std::to_string(i), fold = "fold" + number;
            text += row_function("term" + number, node.inputs[0],
                                 row_place(graph_.values[node.inputs[0]].shape, v), v, i);
            steps += "    float " + fold + " = " + fold_identity(node.op->fold, DType::kF32) +
                     ";\n    FOR_EACH_OF_ROW(" + fold + " = " +
                     fold_combine(node.op->fold, ScalarType::kF32, fold,
                                  "term" + number + "(row[u][j], batch, m, k" + names + ")") +
                     ")\n    of_lane[thread] = " + fold + ";\n    barrier();\n    " + fold +
                     " = of_lane[first];\n    for (int l = 1; l < ROW_LANES; ++l) " + fold + " = " +
                     fold_combine(node.op->fold, ScalarType::kF32, fold, "of_lane[first + l]") +
                     ";\n    barrier();\n";
            names += ", " + fold;
            v.folds.push_back(variable(ScalarType::kF32));
            expressions_.define(node.outputs[0], v.folds.back());
        }
        const ValueId operand = node_.inputs[0];
        const ScalarPlace place = operand_place(0, v.batch, v.m, v.k);
        const RowParams params = row_params(expressions_.read(operand, place), v);
        text +=
            params.functions + row_function("operand", operand, place, v, v.folds.size(), params);
        names += params.arguments;
        expressions_.set_resident({});
        return text + "#define FETCH_PARAMS " + params.fetches + "\n#define FOLD_ROWS " +
               one_line(steps + "    FOR_EACH_OF_ROW(row[u][j] = operand(row[u][j], batch, m, k" +
                        names + "))\n") +
               "\n";
    }

    /// As the text of a macro.
    static std::string one_line(std::string text) {
        std::ranges::replace(text, '\n', ' ');
        return text;
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

    /// The vector of memory that begins with `element`, which is a load or a cast of one, or is
    /// unpacked of one.
    std::string vector_at(GlslWriter& writer, Scalar element, size_t input, Load load) {
        if (const Node* unpacked = views_[input]->unpacked)
            return unpacked_at(writer, element, *unpacked, load);
        while (arena_.node(element.id).op != ScalarOp::kLoad)
            element = Scalar{&arena_, arena_.node(element.id).a};
        const ScalarNode node = arena_.node(element.id);
        const std::string buffer = kernel_.buffers.name_of(node.bits);
        const std::string index = writer.emit(Scalar{&arena_, node.a});
        if (held(graph_.values[node.bits].dtype) == DType::kF16) {
            if (load == Load::kFour) {
                kernel_.pair_loads.push_back(node.bits);
                return "four_of(" + buffer + "p.at[" + index + " / 4])";
            }
            kernel_.word_loads.push_back(node.bits);
            return buffer + "w.at[" + index + " / 8]";
        }
        kernel_.vector_loads.push_back(node.bits);
        const std::string fours = buffer + "v.at[" + index + " / 4";
        if (load == Load::kFetch) return "Eight(" + fours + "], " + fours + " + 1])";
        return rounds_to_half(input) ? "hearth_rounded(" + fours + "])" : fours + "]";
    }

    /// Packed elements: a chunk of 16 bytes of them with their scale, or as numbers.
    std::string unpacked_at(GlslWriter& writer, Scalar element, const Node& unpacked, Load load) {
        const auto index_of = [&](size_t input) {
            const ScalarNode* node = find_load(element, unpacked.inputs[input]);
            HEARTH_ASSERT(node != nullptr);
            return Scalar{&arena_, node->a};
        };
        const bool is_int4 = unpacked.attrs.integer("bits") == 4;
        const ValueId words = unpacked.inputs[0];
        const Scalar word_index = index_of(0);
        const std::string word = writer.emit(word_index), scale_index = writer.emit(index_of(1));
        const std::string scale =
            kernel_.buffers.load(unpacked.inputs[1], scale_index, ScalarType::kF32);
        if (load == Load::kChunk) {
            kernel_.word_loads.push_back(words);
            return std::string(is_int4 ? "Int4Chunk(" : "Int8Chunk(") +
                   kernel_.buffers.name_of(words) + "w.at[" + word + " / 4], " + scale + ")";
        }
        const auto word_at = [&](const std::string& at) {
            return kernel_.buffers.load(words, at, ScalarType::kU32);
        };
        if (load == Load::kFour) {
            if (!is_int4) return "hearth_four_int8(" + word_at(word) + ") * " + scale;
            // The word's index is the element's over eight.
            const ScalarNode& over_eight = arena_.node(word_index.id);
            HEARTH_ASSERT(over_eight.op == ScalarOp::kDiv);
            const std::string at = writer.emit(Scalar{&arena_, over_eight.a});
            return "hearth_four_int4(" + word_at(word) + ", " + at + " / 4 % 2) * " + scale;
        }
        const std::string first = is_int4 ? "hearth_four_int4(" + word_at(word) + ", 0)"
                                          : "hearth_four_int8(" + word_at(word) + ")";
        const std::string second = is_int4 ? "hearth_four_int4(" + word_at(word) + ", 1)"
                                           : "hearth_four_int8(" + word_at(word + " + 1") + ")";
        return "Eight(" + first + " * " + scale + ", " + second + " * " + scale + ")";
    }

    /// "Eight load_a8(...)" or "vec4 load_a4(...)": elements one by one, none beyond the counts.
    static std::string gather_function(size_t input, int each, bool along_k) {
        const std::string name = input == 0 ? "a" : "b";
        const std::string first = input == 0 ? "m" : "k", second = input == 0 ? "k" : "n";
        const std::string along = along_k ? "k" : input == 0 ? "m" : "n";
        auto element = [&](const std::string& step) {
            auto place = [&](const std::string& axis) {
                return axis == along ? along + " + " + step : axis;
            };
            return along + " + " + step + " < " + along + "_count ? load_" + name + "(batch, " +
                   place(first) + ", " + place(second) + ") : 0.0;\n";
        };
        const bool is_eight = each == 8;
        std::string text = std::string(is_eight ? "Eight" : "vec4") + " load_" + name +
                           std::to_string(each) + "(int batch, int " + first + ", int " + second +
                           ", int " + first + "_count, int " + second + "_count) {\n    " +
                           (is_eight ? "Eight eight" : "vec4 four") +
                           ";\n    [[unroll]] for (int i = 0; i < 4; ++i) {\n        ";
        text += (is_eight ? "eight.x[i] = " : "four[i] = ") + element("i");
        if (is_eight) text += "        eight.y[i] = " + element("4 + i");
        return text + "    }\n    return " + (is_eight ? "eight" : "four") + ";\n}\n";
    }

    /// "void store(...)" of one element of the product, with what follows it; and "void store4(...)"
    /// of four along n, which are one store where they lie so.
    std::string store_function(MatmulFamily family) {
        GlslWriter writer(arena_, kernel_.buffers);
        const Scalar batch = arena_.variable(ScalarType::kI32);
        const Scalar m = arena_.variable(ScalarType::kI32);
        const Scalar n = arena_.variable(ScalarType::kI32);
        const Scalar sum = arena_.variable(sum_type());
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
        std::vector<Scalar> values;
        for (ValueId v : group_.stores) values.push_back(expressions_.read(v, place));
        const std::string early = is_early_ ? early_function(writer, values, {batch, m, n}) : "";
        // All results before the first store: a stored buffer may have taken over the bytes of one
        // that is loaded.
        std::string outs, locals, names, stores;
        for (size_t i = 0; i < group_.stores.size(); ++i) {
            const std::string name = "r" + std::to_string(i);
            const std::string type(glsl_type(arena_.node(values[i].id).type));
            writer.line(name + " = " + writer.emit(values[i]) + ";");
            outs += ", out " + type + " " + name;
            locals += "    " + type + " " + name + ";\n";
            names += ", " + name;
            stores += "    " + kernel_.buffers.store(group_.stores[i], "at", name) + "\n";
        }
        const bool stores_vectors = family == MatmulFamily::kVector || is_on_matrices(family);
        const std::string linear = writer.emit(*place.linear);
        kernel_.is_elementwise = elementwise_buffers(arena_, kernel_.buffers.values, *place.linear);
        const std::string results = "int results(int batch, int m, int n, " + number_type() +
                                    " sum" + std::string(is_early_ ? ", int j" : "") + outs +
                                    ") {\n" + writer.text() + "    return " + linear + ";\n}\n";
        if (is_early_) return early + results + store4_function();
        return results + "void store(int batch, int m, int n, " + number_type() + " sum) {\n" +
               locals + "    const int at = results(batch, m, n, sum" + names + ");\n" + stores +
               "}\n" + (stores_vectors ? store4_function() : "");
    }

    /// "void fetch_early(int batch, int m, int n)": what the results of elements n to n + 3 read besides
    /// the sum, into vectors that the kernel keeps, so that it is on its way while the product is made.
    /// Tells the writer of results() their names; j is the element.
    std::string early_function(GlslWriter& results, std::span<const Scalar> values,
                               const std::array<Scalar, 3>& variables) {
        const Scalar n = variables[2];
        const Steps steps(arena_, n, n, 4);
        GlslWriter writer(arena_, kernel_.buffers);
        const char* const names[] = {"batch", "m", "n"};
        for (size_t i = 0; i < 3; ++i) writer.bind(variables[i], names[i]);
        std::string vectors;
        int count = 0;
        for (Scalar load : loads_in(arena_, values)) {
            const ScalarNode node = load.node();
            const Scalar index{&arena_, node.a};
            if (load.type() != ScalarType::kF32 || !reads_only(arena_, index, variables)) continue;
            const std::optional<int> step = steps.step(index);
            const DType in_memory = held(graph_.values[node.bits].dtype);
            const bool is_half = in_memory == DType::kF16;
            const std::string name = "early" + std::to_string(count);
            if (step == 0) {
                writer.line(name + " = vec4(" + writer.emit(load) + ");");
            } else if (step == 1 && steps.is_aligned(index) &&
                       (is_half || in_memory == DType::kF32)) {
                (is_half ? kernel_.pair_loads : kernel_.vector_loads).push_back(node.bits);
                const std::string four = kernel_.buffers.name_of(node.bits) +
                                         (is_half ? "p.at[" : "v.at[") + writer.emit(index) +
                                         " / 4]";
                writer.line(name + " = " + (is_half ? "four_of(" + four + ")" : four) + ";");
            } else {
                continue;
            }
            vectors += "vec4 " + name + ";\n";
            results.define(load, name + "[j]");
            ++count;
        }
        return vectors + "#define FETCHES_EARLY\nvoid fetch_early(int batch, int m, int n) {\n" +
               writer.text() + "}\n";
    }

    /// Whether four elements along n that begin at a multiple of four are one vector of each value
    /// that is stored.
    bool stores_by_fours() const {
        if (n_.per_row || n_.count % 4 != 0) return false;
        return std::all_of(group_.stores.begin(), group_.stores.end(), [&](ValueId v) {
            const DType dtype = graph_.values[v].dtype;
            return dtype == DType::kF32 || (dtype == DType::kF16 && held(dtype) == DType::kF16);
        });
    }

    /// "void store4(...)": store() of elements n to n + 3, less those beyond N; n is a multiple of
    /// four.
    std::string store4_function() {
        const std::string head = "void store4(int batch, int m, int n, vec4 sum) {\n";
        if (!stores_by_fours())
            return head +
                   "    for (int j = 0; j < 4; ++j)\n"
                   "        if (n + j < N) store(batch, m, n + j, sum[j]);\n}\n";
        std::string locals, stores;
        std::array<std::string, 4> names;
        for (size_t i = 0; i < group_.stores.size(); ++i) {
            const ValueId v = group_.stores[i];
            const std::string four = "r" + std::to_string(i);
            const std::string buffer = kernel_.buffers.name_of(v);
            locals += "    vec4 " + four + ";\n";
            for (size_t j = 0; j < 4; ++j) names[j] += ", " + four + "[" + std::to_string(j) + "]";
            const bool is_half = graph_.values[v].dtype == DType::kF16;
            (is_half ? kernel_.pair_loads : kernel_.vector_loads).push_back(v);
            stores += "    " + buffer + (is_half ? "p" : "v") +
                      ".at[at / 4] = " + (is_half ? "hearth_halves(" + four + ")" : four) + ";\n";
        }
        std::string text = head + locals;
        for (size_t j = 0; j < 4; ++j)
            text += "    " + std::string(j == 0 ? "const int at = " : "") +
                    "results(batch, m, n + " + std::to_string(j) + ", sum[" + std::to_string(j) +
                    "]" + (is_early_ ? ", " + std::to_string(j) : "") + names[j] + ");\n";
        return text + stores + "}\n";
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
    std::optional<MemoryView> views_[2];
    std::optional<RowPrologue> prologue_;
    bool is_early_ = false;  ///< what follows the product is read before it
    bool is_row_ = false;    ///< the text is matmul_row.comp
};

}  // namespace

bool folds_rows(const Graph& graph, const Node& product, const LowerOptions& options) {
    if (product.attrs.has("parts")) return false;
    Group alone;
    alone.nodes = {static_cast<NodeId>(&product - graph.nodes.data())};
    const std::vector<bool> inlined(graph.nodes.size());
    return MatmulKernel(graph, alone, inlined, options).can_fold_rows();
}

GroupKernel matmul_kernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                          const LowerOptions& options) {
    return MatmulKernel(graph, group, inlined, options).run();
}

}  // namespace hearth
