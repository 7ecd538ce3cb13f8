// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "codegen/row_program.hpp"

#include "codegen/row_plan.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <bit>
#include <optional>

namespace hearth {

namespace {

std::string text(int64_t number) {
    return std::to_string(number);
}

int ceil_div(int a, int b) {
    return (a + b - 1) / b;
}

Shape without_rows(const Shape& shape) {
    Shape inner = shape;
    inner.erase(0);
    return inner;
}

// Registers of a thread that sums over rows may take; beyond, sums live in their buffers.
constexpr int kMaxKeptFloats = 96;
constexpr int kMaxRowsEach = 8;  // of a product, by four columns each

/// How a product or gradient is dealt out to threads: tasks of `lines` x 4 results.
struct Deal {
    int columns = 0;  ///< groups of four
    int lines = 1;    ///< each task's
    int tasks = 0;
    int rounds = 1;

    Deal(int line_count, int width, int lines_each, int threads)
        : columns(ceil_div(width, 4)),
          lines(lines_each),
          tasks(ceil_div(line_count, lines_each) * columns),
          rounds(ceil_div(tasks, threads)) {}
};

class RowProgramWriter {
  public:
    RowProgramWriter(const Graph& graph, const RowRegion& region, RowPlan plan,
                     const std::vector<bool>& inlined, const LowerOptions& options)
        : graph_(graph),
          region_(region),
          plan_(std::move(plan)),
          inlined_(inlined),
          options_(options),
          readers_(readers_of(graph)),
          leaves_(leaves_graph(graph)),
          is_software_(is_cpu(options.caps)),
          is_made_(graph.values.size(), false) {
        for (const RowStage& stage : plan_.stages)
            for (size_t i = 0; stage.group != nullptr && i < stage.group->stores.size(); ++i)
                is_made_[stage.group->stores[i]] = true;
    }

    Result<GroupKernel> run() {
        kernel_.name = "row_program";
        rows_ = glsl_count(region_.rows, kernel_.buffers);
        choose_kept();
        std::string levels;
        for (uint32_t level = 0; level < plan_.levels; ++level) levels += write_level(level);
        if (is_lost_) return unsupported("it reads what it computed where it no longer is");
        std::string body =
            "void main() {\n    const int tid = int(gl_LocalInvocationID.x);\n" + declarations_;
        body += load_vectors();
        if (plan_.mode == RowWeights::kOnce)
            for (size_t w = 0; w < plan_.weights.size(); ++w)
                body += can_hold(w) ? fetch_weight(w) : load_weight(w, "0");
        if (plan_.mode == RowWeights::kOnce)
            for (size_t w = 0; w < plan_.weights.size(); ++w)
                if (can_hold(w)) body += put_weight(w);
        body += tile_loop(levels) + write_sums() + "}\n";
        kernel_.body = "#extension GL_EXT_control_flow_attributes : require\n#define UNROLL ";
        kernel_.body += is_software_ ? "[[dont_unroll]]\n" : "[[unroll]]\n";
        kernel_.body += "shared vec4 pool[" + text(ceil_div(plan_.shared_floats, 4)) + "];\n";
        kernel_.body += "#define SHARED(i) pool[(i) >> 2][(i) & 3]\n" + functions_ + body;
        kernel_.local_size = {static_cast<uint32_t>(plan_.threads), 1, 1};
        kernel_.grid[0] = grid();
        return std::move(kernel_);
    }

  private:
    // ------------------------------------------------------------------------------- the frame

    GridAxis grid() const {
        if (plan_.parts != 0) return {{static_cast<uint64_t>(plan_.parts), 0}, 1};
        return {work_of(region_.rows), static_cast<uint32_t>(plan_.tile_rows * tiles_each())};
    }

    /// Tiles of a workgroup at capacity, where nothing is summed over rows: enough workgroups for a
    /// large GPU first, then few, as each loads the weights.
    int tiles_each() const {
        constexpr int64_t kEnoughGroups = 256, kMostEach = 8;
        const int64_t rows = region_.rows.at(static_cast<int64_t>(options_.rows_capacity));
        const int64_t tiles = (rows + plan_.tile_rows - 1) / plan_.tile_rows;
        const auto least =
            (tiles + options_.caps.max_workgroup_count_x - 1) / options_.caps.max_workgroup_count_x;
        return static_cast<int>(
            std::max<int64_t>(least, std::clamp<int64_t>(tiles / kEnoughGroups, 1, kMostEach)));
    }

    std::string tile_loop(const std::string& levels) const {
        const std::string tile = text(plan_.tile_rows);
        std::string out = "    const int group = int(gl_WorkGroupID.x);\n";
        out += "    const int last_row = " + rows_ + " - 1;\n";
        if (plan_.parts != 0) {
            const std::string parts = text(plan_.parts), granule = text(plan_.granule);
            out += "    const int chunk = ((" + rows_ + " + " + parts + " - 1) / " + parts + " + " +
                   granule + " - 1) / " + granule + " * " + granule + ";\n";
            out += "    const int begin = group * chunk;\n";
            out += "    const int end = min(begin + chunk, " + rows_ + ");\n";
        } else {
            out += "    const int begin = group * " + tile + ";\n";
            out += "    const int end = " + rows_ + ";\n";
        }
        if (plan_.is_single)
            out += "    {\n        const int first = begin;\n";
        else
            out += "    for (int first = begin; first < end; first += " + tile +
                   (plan_.parts != 0 ? "" : " * int(gl_NumWorkGroups.x)") + ") {\n";
        out += "        const int count = clamp(end - first, 0, " + tile + ");\n" + levels;
        return out + "    }\n";
    }

    std::string write_level(uint32_t level) {
        // The tile before may still be read when a new one begins.
        std::string out = level > 0 || !plan_.is_single ? "        barrier();\n" : "";
        std::vector<size_t> ahead;
        for (size_t w = 0; w < plan_.weights.size(); ++w)
            if (plan_.mode == RowWeights::kAhead && plan_.weights[w].level == level + 1)
                ahead.push_back(w);
        for (size_t w : ahead)
            if (can_hold(w)) out += fetch_weight(w);
        int lane = 0;
        for (RowStage& stage : plan_.stages) {
            if (stage.level != level) continue;
            out += "        {  // " + label_of(stage) + "\n";
            out += write_stage(stage, lane);
            out += "        }\n";
        }
        for (size_t w : ahead) out += can_hold(w) ? put_weight(w) : load_weight(w, "0");
        return out;
    }

    std::string load_vectors() {
        std::string out;
        for (const RowVector& v : plan_.vectors)
            out += "    for (int e = tid; e < " + text(v.count) + "; e += " + text(plan_.threads) +
                   ") SHARED(e + " + text(v.offset) + ") = " + kernel_.buffers.name_of(v.value) +
                   ".at[e];\n";
        return out;
    }

    std::string label_of(const RowStage& stage) const {
        if (stage.group == nullptr)
            return "rows of %" + text(plan_.tiles[static_cast<size_t>(stage.left)].value);
        std::string label;
        for (NodeId n : stage.group->nodes)
            label += (label.empty() ? "" : " + ") + std::string(graph_.nodes[n].op->name);
        return label;
    }

    /// Work of one stage begins with the thread after the last one that the stage before used, so
    /// that small stages of one level run side by side.
    std::string lane_line(int& lane, int tasks) const {
        const std::string line = lane == 0
                                     ? "const int lane = tid;"
                                     : "const int lane = (tid + " + text(plan_.threads - lane) +
                                           ") % " + text(plan_.threads) + ";";
        lane = (lane + ceil_div(tasks, 32) * 32) % plan_.threads;
        return line;
    }

    std::string write_stage(const RowStage& stage, int& lane) {
        switch (stage.kind) {
            case RowStageKind::kFill:
                return write_fill(stage, lane);
            case RowStageKind::kMap:
                return write_map(stage, lane);
            case RowStageKind::kRowwise:
                return write_rowwise(stage);
            case RowStageKind::kProduct:
                return write_product(stage, lane);
            case RowStageKind::kGradient:
                return write_gradient(stage, lane);
            case RowStageKind::kRowSum:
                return write_row_sum(stage, lane);
        }
        return {};
    }

    // --------------------------------------------------------------------------- expressions

    /// The expressions of one stage, with what other stages made read from shared memory.
    struct Scope {
        Group nothing;
        GroupExpressions expressions;
        ScalarArena& arena;
        GlslWriter writer;
        Scalar row, local;

        Scope(RowProgramWriter& program, const RowStage& stage)
            : expressions(program.graph_, stage.group != nullptr ? *stage.group : nothing,
                          program.inlined_),
              arena(expressions.arena()),
              writer(arena, program.kernel_.buffers),
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
                                   const ScalarPlace& place) const {
        for (const RowVector& vector : plan_.vectors)
            if (vector.value == v && level > 0)
                return scope.arena.load(BufferTable::kShared,
                                        linear_of(scope.arena, place, graph_.value(v).shape) +
                                            static_cast<double>(vector.offset),
                                        ScalarType::kF32);
        const RowTile* tile = plan_.tile_of(v, level);
        const Value& value = graph_.value(v);
        if (tile == nullptr || !place.coords || place.coords->rank() == 0 ||
            (*place.coords)[0].id != scope.row.id) {
            is_lost_ = is_lost_ || (value.kind == ValueKind::kNode && region_.has(value.node));
            return std::nullopt;
        }
        Coords<Scalar> rest;
        for (int i = 1; i < place.coords->rank(); ++i) rest.axis.push_back((*place.coords)[i]);
        const Scalar inner = linear_of(scope.arena, {{}, rest}, without_rows(value.shape));
        const Scalar element = scope.local * static_cast<double>(tile->stride) + inner +
                               static_cast<double>(tile->offset);
        return scope.arena.load(BufferTable::kShared, element, scalar_type(value.dtype));
    }

    /// The name of a value's buffer as vec4s.
    std::string by_four(ValueId v) {
        std::vector<uint32_t>& known = kernel_.vector_loads;
        if (std::find(known.begin(), known.end(), v) == known.end()) known.push_back(v);
        return kernel_.buffers.name_of(v) + "v";
    }

    void note_store(ValueId v) {
        if (std::find(kernel_.stores.begin(), kernel_.stores.end(), v) == kernel_.stores.end())
            kernel_.stores.push_back(v);
    }

    bool is_read_outside(ValueId v) const {
        if (leaves_[v]) return true;
        for (NodeId r : readers_[v]) {
            if (!region_.has(r)) {
                if (!inlined_[r] || is_read_outside(graph_.nodes[r].outputs[0])) return true;
            } else if (inlined_[r] && is_read_outside(graph_.nodes[r].outputs[0])) {
                return true;
            }
        }
        return false;
    }

    /// Stores `content` as element `inner` (text) of row "r" wherever the value is needed.
    void store(Scope& scope, ValueId v, const std::string& content, const std::string& inner,
               const std::string& inside = "") {
        const Value& value = graph_.value(v);
        const ScalarType type = scalar_type(value.dtype);
        const std::string width = text(without_rows(value.shape).element_count().count);
        if (const RowTile* tile = plan_.tile_for(v)) {
            std::string kept = shared_content(content, type);
            // Beyond the row lie zeros that products read, or another row.
            const bool has_zeros = tile->padded() > tile->width;
            if (!inside.empty() && has_zeros) kept = inside + " ? " + kept + " : 0.0";
            const std::string guard = !inside.empty() && !has_zeros ? "if (" + inside + ") " : "";
            scope.writer.line(guard + "SHARED(r * " + text(tile->stride) + " + " + inner + " + " +
                              text(tile->offset) + ") = " + kept + ";");
        }
        if (!is_made_[v] || !is_read_outside(v)) return;
        note_store(v);
        scope.writer.line("if (r < count" + (inside.empty() ? "" : " && " + inside) + ") " +
                          kernel_.buffers.store(v, "row * " + width + " + " + inner, content));
    }

    /// Works out all values, then stores them, at element `inner` of row "r".
    void store_row(Scope& scope, std::span<const ValueId> values, Scalar inner,
                   const std::string& inner_text, const std::string& inside = "") {
        std::vector<std::string> contents;
        for (ValueId v : values)
            contents.push_back(scope.writer.emit(
                scope.expressions.read(v, scope.place(graph_.value(v).shape, inner))));
        for (size_t i = 0; i < values.size(); ++i)
            store(scope, values[i], contents[i], inner_text, inside);
    }

    // -------------------------------------------------------------------- fills and element-wise

    std::string write_fill(const RowStage& stage, int& lane) {
        const RowTile& tile = plan_.tiles[static_cast<size_t>(stage.left)];
        if (is_plain(tile.value) && tile.width % 4 == 0) return fill_by_four(tile, lane);
        return write_elements(stage, {{tile.value}}, tile.width, tile.padded(), lane);
    }

    /// Whether the value is floats in a buffer, not an expression.
    bool is_plain(ValueId v) const {
        const Value& value = graph_.value(v);
        return value.dtype == DType::kF32 &&
               !(value.kind == ValueKind::kNode && inlined_[value.node]) &&
               value.shape.element_count() != Dim(1);
    }

    std::string fill_by_four(const RowTile& tile, int& lane) {
        const int quads = tile.width / 4;
        const int tasks = plan_.tile_rows * quads;
        std::string out = "            " + lane_line(lane, tasks) + "\n";
        out += "            for (int e = lane; e < " + text(tasks) +
               "; e += " + text(plan_.threads) + ")\n";
        out += "                pool[e / " + text(quads) + " * " + text(tile.stride / 4) +
               " + e % " + text(quads) + " + " + text(tile.offset / 4) +
               "] = " + by_four(tile.value) + ".at[min(first + e / " + text(quads) +
               ", last_row) * " + text(quads) + " + e % " + text(quads) + "];\n";
        return out;
    }

    std::string write_map(const RowStage& stage, int& lane) {
        int64_t width = 0;
        int padded = 0;
        for (ValueId v : stage.group->stores) {
            width = without_rows(graph_.value(v).shape).element_count().count;
            if (const RowTile* tile = plan_.tile_for(v)) padded = std::max(padded, tile->padded());
        }
        return write_elements(stage, stage.group->stores, static_cast<int>(width),
                              std::max(padded, static_cast<int>(width)), lane);
    }

    std::string write_elements(const RowStage& stage, std::span<const ValueId> values, int width,
                               int padded, int& lane) {
        Scope scope(*this, stage);
        GlslWriter& writer = scope.writer;
        const int tasks = plan_.tile_rows * padded;
        writer.line(lane_line(lane, tasks));
        writer.open_scope("for (int e = lane; e < " + text(tasks) +
                          "; e += " + text(plan_.threads) + ")");
        writer.line("const int r = e / " + text(padded) + ", j = e % " + text(padded) + ";");
        scope.open_row();
        const Scalar inner = scope.arena.variable(ScalarType::kI32);
        if (padded == width) {
            writer.bind(inner, "j");
            store_row(scope, values, inner, "j");
        } else {
            writer.line("const int jj = min(j, " + text(width - 1) + ");");
            writer.bind(inner, "jj");
            store_row(scope, values, inner, "j", "j < " + text(width));
        }
        writer.close_scope();
        return indented(writer.text());
    }

    // ------------------------------------------------------------------------------- reductions

    std::string write_rowwise(const RowStage& stage) {
        Scope scope(*this, stage);
        GlslWriter& writer = scope.writer;
        const Group& group = *stage.group;
        Shape outer, reduced;
        for (int i = 1; i < group.space.rank(); ++i) {
            const bool is_reduced =
                std::find(group.axes.begin(), group.axes.end(), i) != group.axes.end();
            (is_reduced ? reduced : outer).push_back(group.space[i]);
        }
        const int outer_count = static_cast<int>(outer.element_count().count);
        const int length = static_cast<int>(reduced.element_count().count);
        const int tasks = plan_.tile_rows * outer_count;
        int lanes = 1;
        while (lanes < 32 && 4 * lanes <= length && 2 * lanes * tasks <= plan_.threads) lanes *= 2;
        const int at_once = plan_.threads / lanes;
        writer.open_scope("for (int base = 0; base < " + text(tasks) +
                          "; base += " + text(at_once) + ")");
        writer.line("const int task = min(base + tid / " + text(lanes) + ", " + text(tasks - 1) +
                    "), sub = tid % " + text(lanes) + ";");
        writer.line("const bool is_mine = base + tid / " + text(lanes) + " < " + text(tasks) + ";");
        writer.line("const int r = task / " + text(outer_count) + ", o = task % " +
                    text(outer_count) + ";");
        scope.open_row();
        const Scalar o = scope.arena.variable(ScalarType::kI32);
        writer.bind(o, "o");
        const Coords<Scalar> outer_at = coords_of(scope.arena, {o, {}}, outer);

        const auto open_line = [&]() {
            const Scalar k = scope.arena.variable(ScalarType::kI32);
            writer.open_scope("for (int k = sub; k < " + text(length) + "; k += " + text(lanes) +
                              ")");
            writer.bind(k, "k");
            const Coords<Scalar> inner_at = coords_of(scope.arena, {k, {}}, reduced);
            ScalarPlace place;
            place.coords.emplace();
            place.coords->axis.push_back(scope.row);
            int next_outer = 0, next_inner = 0;
            for (int i = 1; i < group.space.rank(); ++i) {
                const bool is_reduced =
                    std::find(group.axes.begin(), group.axes.end(), i) != group.axes.end();
                place.coords->axis.push_back(is_reduced ? inner_at[next_inner++]
                                                        : outer_at[next_outer++]);
            }
            return place;
        };

        int reductions = 0;
        for (NodeId n : group.nodes) {
            const Node& node = graph_.nodes[n];
            if (node.op->op_class != OpClass::kReduce) continue;
            const ScalarType type = scalar_type(graph_.value(node.outputs[0]).dtype);
            const std::string sum = "sum" + text(reductions++);
            writer.line(std::string(glsl_type(type)) + " " + sum + " = " +
                        fold_identity(node.op->fold, type) + ";");
            const ScalarPlace place = open_line();
            const std::string element = writer.emit(scope.expressions.read(node.inputs[0], place));
            writer.line(sum + " = " + fold_combine(node.op->fold, type, sum, element) + ";");
            writer.close_scope();
            if (lanes > 1) fold_lanes(writer, node.op->fold, type, sum, lanes);
            const Scalar result = scope.arena.variable(type);
            writer.bind(result, sum);
            scope.expressions.define(node.outputs[0], result);
        }
        store_rowwise(scope, group, outer_count, o, open_line);
        writer.close_scope();
        return indented(writer.text());
    }

    /// Folds the numbers of neighbouring threads and gives each of them the result.
    void fold_lanes(GlslWriter& writer, Fold fold, ScalarType type, const std::string& sum,
                    int lanes) const {
        const auto slot = [&](const std::string& thread) {
            return "SHARED(" + text(plan_.scratch_offset) + " + " + thread + ")";
        };
        const auto number = [&](const std::string& thread) {
            return shared_element(text(plan_.scratch_offset) + " + " + thread, type);
        };
        writer.line(slot("tid") + " = " + shared_content(sum, type) + ";");
        writer.line("barrier();");
        for (int width = lanes / 2; width > 0; width /= 2) {
            writer.line(
                "if (sub < " + text(width) + ") " + slot("tid") + " = " +
                shared_content(
                    fold_combine(fold, type, number("tid"), number("tid + " + text(width))), type) +
                ";");
            writer.line("barrier();");
        }
        writer.line(sum + " = " + number("tid - sub") + ";");
        writer.line("barrier();");
    }

    template <class OpenLine>
    void store_rowwise(Scope& scope, const Group& group, int outer_count, Scalar o,
                       const OpenLine& open_line) {
        std::vector<ValueId> full, single;
        for (ValueId v : group.stores) {
            const int64_t count = without_rows(graph_.value(v).shape).element_count().count;
            (count == outer_count ? single : full).push_back(v);
        }
        GlslWriter& writer = scope.writer;
        if (!full.empty()) {
            const ScalarPlace place = open_line();
            Coords<Scalar> rest;
            for (int i = 1; i < place.coords->rank(); ++i) rest.axis.push_back((*place.coords)[i]);
            const Scalar inner = linear_of(scope.arena, {{}, rest}, without_rows(group.space));
            std::vector<std::string> contents;
            for (ValueId v : full)
                contents.push_back(writer.emit(scope.expressions.read(v, place)));
            writer.line("const int at = " + writer.emit(inner) + ";");
            writer.open_scope("if (is_mine)");
            for (size_t i = 0; i < full.size(); ++i) store(scope, full[i], contents[i], "at");
            writer.close_scope();
            writer.close_scope();
            // What is read four at a time has zeros behind it.
            for (ValueId v : full) {
                const RowTile* tile = plan_.tile_for(v);
                if (tile == nullptr || tile->padded() == tile->width) continue;
                writer.line("if (is_mine && sub == 0 && o == 0) for (int k = " + text(tile->width) +
                            "; k < " + text(tile->padded()) + "; ++k) SHARED(r * " +
                            text(tile->stride) + " + k + " + text(tile->offset) + ") = 0.0;");
            }
        }
        if (single.empty()) return;
        writer.open_scope("if (is_mine && sub == 0)");
        store_row(scope, single, o, "o");
        for (ValueId v : single) {
            const RowTile* tile = plan_.tile_for(v);
            if (tile == nullptr || tile->padded() == tile->width) continue;
            writer.line("if (o == 0) for (int k = " + text(tile->width) + "; k < " +
                        text(tile->padded()) + "; ++k) SHARED(r * " + text(tile->stride) +
                        " + k + " + text(tile->offset) + ") = 0.0;");
        }
        writer.close_scope();
    }

    // --------------------------------------------------------------------------------- products

    /// How the lines of a product's weights come into shared memory: quad by quad, each thread a
    /// fixed number of them.
    struct WeightCopy {
        std::string at;     ///< declares line, quad, i and j of quad "e"
        std::string value;  ///< an expression: four elements
        std::string to;
        int quads = 0;
    };

    /// from: the first of the inner extent, as text.
    WeightCopy weight_copy(size_t index, const std::string& from) {
        const RowWeight& w = plan_.weights[index];
        const int quads = w.line_floats() / 4;
        const int inner4 = ceil_div(w.inner, 4) * 4;
        const int i_end = w.is_dot ? w.outer : w.inner, j_end = w.is_dot ? w.inner : w.outer;
        WeightCopy copy;
        // Of a chunk that ends beyond the inner extent only what products read is filled.
        copy.quads = (w.is_dot ? w.outer : w.chunk) * quads;
        copy.at = "const int line = e / " + text(quads) + ", quad = e % " + text(quads) + "; ";
        copy.at += w.is_dot ? "const int i = line, j = " + from + " + 4 * quad;"
                            : "const int i = " + from + " + line, j = 4 * quad;";
        copy.to = "pool[line * " + text(w.stride / 4) + " + quad + " + text(w.offset / 4) + "]";
        const bool may_exceed =
            w.is_dot ? !w.is_whole() && inner4 % w.chunk != 0 : w.inner % w.chunk != 0;
        if (is_plain(w.value) && j_end % 4 == 0) {
            copy.value = by_four(w.value) + ".at[(i * " + text(j_end) + " + j) >> 2]";
            if (may_exceed)
                copy.value = "(" + (w.is_dot ? "j < " + text(j_end) : "i < " + text(i_end)) +
                             " ? " + copy.value + " : vec4(0))";
        } else {
            copy.value = weight_function(index, i_end, j_end) + "(i, j)";
        }
        return copy;
    }

    /// Copies weights; `from` is the first of the inner extent.
    std::string load_weight(size_t index, const std::string& from) {
        const WeightCopy copy = weight_copy(index, from);
        return "        for (int e = tid; e < " + text(copy.quads) +
               "; e += " + text(plan_.threads) + ") {\n            " + copy.at + "\n            " +
               copy.to + " = " + copy.value + ";\n        }\n";
    }

    /// The same in two halves with registers in between, so that other work hides the wait.
    std::string fetch_weight(size_t index) {
        const WeightCopy copy = weight_copy(index, "0");
        const std::string each = text(ceil_div(copy.quads, plan_.threads));
        return "        vec4 held" + text(static_cast<int64_t>(index)) + "[" + each +
               "];\n        UNROLL for (int k = 0; k < " + each +
               "; ++k) {\n            const int e = tid + k * " + text(plan_.threads) +
               ";\n            if (e < " + text(copy.quads) + ") { " + copy.at + " held" +
               text(static_cast<int64_t>(index)) + "[k] = " + copy.value + "; }\n        }\n";
    }
    std::string put_weight(size_t index) {
        const WeightCopy copy = weight_copy(index, "0");
        return "        UNROLL for (int k = 0; k < " + text(ceil_div(copy.quads, plan_.threads)) +
               "; ++k) {\n            const int e = tid + k * " + text(plan_.threads) +
               ";\n            if (e < " + text(copy.quads) + ") { " + copy.at + " " + copy.to +
               " = held" + text(static_cast<int64_t>(index)) + "[k]; }\n        }\n";
    }

    /// Whether registers may hold weights on their way.
    bool can_hold(size_t index) const {
        constexpr int kMostHeld = 16;
        const RowWeight& w = plan_.weights[index];
        const int quads = (w.is_dot ? w.outer : w.chunk) * w.line_floats() / 4;
        return !is_software_ && ceil_div(quads, plan_.threads) <= kMostHeld;
    }

    /// A function that gives an element of the weights.
    std::string weight_function(size_t index, int i_end, int j_end) {
        const std::string name = "weights" + text(static_cast<int64_t>(index));
        if (functions_.find(" " + name + "(") != std::string::npos) return name;
        Scope scope(*this, {});
        const Scalar i = scope.arena.variable(ScalarType::kI32);
        const Scalar j = scope.arena.variable(ScalarType::kI32);
        scope.writer.bind(i, "i");
        scope.writer.bind(j, "j");
        ScalarPlace place;
        place.coords.emplace();
        place.coords->axis.push_back(i);
        place.coords->axis.push_back(j);
        const std::string value =
            scope.writer.emit(scope.expressions.read(plan_.weights[index].value, place));
        functions_ += "float element_of_" + name + "(int i, int j) {\n" + scope.writer.text() +
                      "    return " + value + ";\n}\n";
        functions_ += "vec4 " + name +
                      "(int i, int j) {\n    vec4 v = vec4(0);\n    UNROLL for (int "
                      "t = 0; t < 4; ++t)\n        if (i < " +
                      text(i_end) + " && j + t < " + text(j_end) + ") v[t] = element_of_" + name +
                      "(i, j + t);\n    return v;\n}\n";
        return name;
    }

    Deal deal_product(int width) const {
        int lines = 1;
        const int columns = ceil_div(width, 4);
        while (2 * lines <= std::min(kMaxRowsEach, plan_.tile_rows) &&
               plan_.tile_rows / (2 * lines) * columns >= plan_.threads)
            lines *= 2;
        return Deal(plan_.tile_rows, width, lines, plan_.threads);
    }

    std::string write_product(const RowStage& stage, int& lane) {
        const auto index = static_cast<size_t>(stage.weight);
        const RowWeight& w = plan_.weights[index];
        const RowTile& x = plan_.tiles[static_cast<size_t>(stage.left)];
        const Deal deal = deal_product(w.outer);
        std::string out = "            " + lane_line(lane, deal.tasks) + "\n";
        out += "            vec4 acc[" + text(deal.rounds * deal.lines) + "];\n";
        out += "            UNROLL for (int i = 0; i < " + text(deal.rounds * deal.lines) +
               "; ++i) acc[i] = vec4(0);\n";
        const bool in_chunks = plan_.mode == RowWeights::kChunked;
        if (in_chunks) {
            out += "            for (int k0 = 0; k0 < " + text(w.inner) +
                   "; k0 += " + text(w.chunk) + ") {\n";
            if (!w.is_whole()) out += "            barrier();\n";
            out += load_weight(index, "k0") + "            barrier();\n";
        }
        out += open_tasks(deal);
        const int quads = std::min(w.chunk, ceil_div(w.inner, 4) * 4) / 4;
        // The last chunk may be shorter than the others.
        const std::string end = w.is_whole() ? text(quads)
                                             : "min(" + text(w.chunk / 4) + ", (" +
                                                   text(ceil_div(w.inner, 4) * 4) + " - k0) / 4)";
        out += "                for (int q = 0; q < " + end + "; ++q) {\n";
        out += "                    vec4 x[" + text(deal.lines) + "];\n";
        out += "                    UNROLL for (int i = 0; i < " + text(deal.lines) +
               "; ++i) x[i] = pool[(r0 + i) * " + text(x.stride / 4) + " + q + " +
               text(x.offset / 4) + (in_chunks ? " + k0 / 4" : "") + "];\n";
        out += "                    UNROLL for (int t = 0; t < 4; ++t) {\n";
        out += "                        const vec4 w = pool[" +
               (w.is_dot ? "(c + t * " + text(deal.columns) + ") * " + text(w.stride / 4) + " + q"
                         : "(4 * q + t) * " + text(w.stride / 4) + " + c") +
               " + " + text(w.offset / 4) + "];\n";
        out += "                        UNROLL for (int i = 0; i < " + text(deal.lines) +
               "; ++i)\n                            ";
        const std::string acc = "acc[round * " + text(deal.lines) + " + i]";
        out += w.is_dot ? acc + "[t] += dot(x[i], w);\n"
                        : acc + " = fma(vec4(x[i][t]), w, " + acc + ");\n";
        out += "                    }\n                }\n";
        out += close_tasks();
        if (in_chunks) out += "            }\n";
        return out + write_epilogue(stage, w, deal);
    }

    std::string open_tasks(const Deal& deal) const {
        std::string out;
        out += "            UNROLL for (int round = 0; round < " + text(deal.rounds) +
               "; ++round) {\n                const int task = lane + round * " +
               text(plan_.threads) + ";\n";
        out += "                if (task < " + text(deal.tasks) + ") {\n";
        out += "                const int c = task % " + text(deal.columns) + ", r0 = task / " +
               text(deal.columns) + " * " + text(deal.lines) + ";\n";
        return out;
    }
    static std::string close_tasks() { return "                }\n            }\n"; }

    std::string write_epilogue(const RowStage& stage, const RowWeight& w, const Deal& deal) {
        Scope scope(*this, stage);
        GlslWriter& writer = scope.writer;
        const Scalar sum = scope.arena.variable(ScalarType::kF32);
        const Scalar inner = scope.arena.variable(ScalarType::kI32);
        scope.expressions.define(stage.node->outputs[0], sum);
        const bool is_padded = w.outer % 4 != 0;
        writer.open_scope("UNROLL for (int t = 0; t < 4; ++t)");
        writer.line(std::string("const int n = ") +
                    (w.is_dot ? "c + t * " + text(deal.columns) : "4 * c + t") + ";");
        if (is_padded) writer.line("const int nn = min(n, " + text(w.outer - 1) + ");");
        writer.bind(inner, is_padded ? "nn" : "n");
        writer.open_scope("UNROLL for (int i = 0; i < " + text(deal.lines) + "; ++i)");
        writer.line("const int r = r0 + i;");
        scope.open_row();
        writer.line("const float sum = acc[round * " + text(deal.lines) + " + i][t];");
        writer.bind(sum, "sum");
        store_row(scope, stage.group->stores, inner, "n", is_padded ? "n < " + text(w.outer) : "");
        writer.close_scope();
        writer.close_scope();
        return open_tasks(deal) + indented(writer.text()) + close_tasks();
    }

    // -------------------------------------------------------------------------- sums over rows

    Deal deal_gradient(const RowStage& stage) const {
        const int lines = plan_.tiles[static_cast<size_t>(stage.left)].width;
        const int width = plan_.tiles[static_cast<size_t>(stage.right)].width;
        int each = 4;
        while (each < 16 && ceil_div(lines, each) * ceil_div(width, 4) > plan_.threads) each *= 2;
        return Deal(lines, width, each, plan_.threads);
    }

    /// Decides which gradients stay in registers from tile to tile.
    void choose_kept() {
        int floats = 0;
        for (const RowStage& stage : plan_.stages)
            if (stage.kind == RowStageKind::kGradient) {
                const Deal deal = deal_gradient(stage);
                floats += deal.rounds * deal.lines * 4;
            }
        keeps_gradients_ = !plan_.is_single && floats <= kMaxKeptFloats;
    }

    std::string write_gradient(const RowStage& stage, int& lane) {
        const RowTile& a = plan_.tiles[static_cast<size_t>(stage.left)];
        const RowTile& b = plan_.tiles[static_cast<size_t>(stage.right)];
        const Deal deal = deal_gradient(stage);
        const std::string sums = keeps_gradients_ ? "kept" + text(stage.node->outputs[0]) : "acc";
        const std::string size = text(deal.rounds * deal.lines);
        const std::string clear = "    vec4 " + sums + "[" + size +
                                  "];\n    UNROLL for (int i = 0; i < " + size + "; ++i) " + sums +
                                  "[i] = vec4(0);\n";
        const std::string lane_text = "            " + lane_line(lane, deal.tasks) + "\n";
        std::string out = lane_text;
        if (keeps_gradients_)
            declarations_ += clear;
        else
            out += clear;
        const int lines4 = deal.lines / 4;
        out += open_tasks(deal);
        out += "                for (int r = 0; r < count; ++r) {\n";
        out += "                    const vec4 right = pool[r * " + text(b.stride / 4) + " + c + " +
               text(b.offset / 4) + "];\n";
        out += "                    UNROLL for (int q = 0; q < " + text(lines4) + "; ++q) {\n";
        out += "                        const vec4 left = pool[r * " + text(a.stride / 4) +
               " + min(r0 / 4 + q, " + text(ceil_div(a.width, 4) - 1) + ") + " +
               text(a.offset / 4) + "];\n";
        out += "                        UNROLL for (int t = 0; t < 4; ++t)\n";
        const std::string at = sums + "[round * " + text(deal.lines) + " + 4 * q + t]";
        out += "                            " + at + " = fma(vec4(left[t]), right, " + at + ");\n";
        out += "                    }\n                }\n" + close_tasks();
        std::string stores = store_gradient(stage, deal, sums);
        if (keeps_gradients_)
            sums_ += "    {\n" + lane_text + stores + "    }\n";
        else
            out += stores;
        return out;
    }

    std::string store_gradient(const RowStage& stage, const Deal& deal, const std::string& sums) {
        const int lines = plan_.tiles[static_cast<size_t>(stage.left)].width;
        const int width = plan_.tiles[static_cast<size_t>(stage.right)].width;
        const std::string buffer = kernel_.buffers.name_of(stage.node->outputs[0]);
        note_store(stage.node->outputs[0]);
        std::string out = open_tasks(deal);
        out += "                UNROLL for (int i = 0; i < " + text(deal.lines) + "; ++i) {\n";
        out += "                    const int m = r0 + i;\n";
        out += "                    if (m < " + text(lines) + ") {\n";
        out +=
            "                    vec4 sum = " + sums + "[round * " + text(deal.lines) + " + i];\n";
        const std::string line = "(group * " + text(lines) + " + m)";
        const bool adds = !plan_.is_single && !keeps_gradients_;
        if (width % 4 == 0) {
            const std::string to =
                by_four(stage.node->outputs[0]) + ".at[" + line + " * " + text(width / 4) + " + c]";
            if (adds) out += "                    if (first != begin) sum += " + to + ";\n";
            out += "                    " + to + " = sum;\n";
        } else {
            const std::string to = buffer + ".at[" + line + " * " + text(width) + " + 4 * c + t]";
            out +=
                "                    UNROLL for (int t = 0; t < 4; ++t)\n"
                "                        if (4 * c + t < " +
                text(width) + ") " + to + " = " +
                (adds ? "first != begin ? " + to + " + sum[t] : sum[t]" : "sum[t]") + ";\n";
        }
        out += "                    }\n                }\n" + close_tasks();
        // A workgroup without rows leaves zeros.
        if (adds)
            sums_ += "    if (begin >= end) for (int e = tid; e < " + text(lines * width) +
                     "; e += " + text(plan_.threads) + ") " + buffer + ".at[group * " +
                     text(lines * width) + " + e] = 0.0;\n";
        return out;
    }

    std::string write_row_sum(const RowStage& stage, int& lane) {
        const ValueId v = stage.node->outputs[0];
        const Shape& in = graph_.value(stage.node->inputs[0]).shape;
        const std::vector<int64_t>& axes = stage.node->attrs.integers("axes");
        Shape kept, reduced;
        for (int i = 1; i < in.rank(); ++i) {
            const bool is_reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
            (is_reduced ? reduced : kept).push_back(in[i]);
        }
        const int columns = static_cast<int>(kept.element_count().count);
        const int length = static_cast<int>(reduced.element_count().count);
        const int rounds = ceil_div(columns, plan_.threads);
        const std::string name = "total" + text(v);
        declarations_ += "    float " + name + "[" + text(rounds) +
                         "];\n    UNROLL for (int i "
                         "= 0; i < " +
                         text(rounds) + "; ++i) " + name + "[i] = 0.0;\n";

        Scope scope(*this, stage);
        GlslWriter& writer = scope.writer;
        const Scalar column = scope.arena.variable(ScalarType::kI32);
        const Scalar k = scope.arena.variable(ScalarType::kI32);
        const bool is_single = columns == 1;
        const std::string lane_text = lane_line(lane, is_single ? plan_.threads : columns);
        writer.line(lane_text);
        if (is_single) {
            writer.open_scope("for (int e = lane; e < count * " + text(length) +
                              "; e += " + text(plan_.threads) + ")");
            writer.line("const int r = e / " + text(length) + ", k = e % " + text(length) +
                        ", column = 0, round = 0;");
        } else {
            writer.open_scope("UNROLL for (int round = 0; round < " + text(rounds) + "; ++round)");
            writer.line("const int column = lane + round * " + text(plan_.threads) + ";");
            writer.open_scope("if (column < " + text(columns) + ")");
            writer.open_scope("for (int r = 0; r < count; ++r)");
            writer.open_scope("for (int k = 0; k < " + text(length) + "; ++k)");
        }
        scope.open_row();
        writer.bind(column, "column");
        writer.bind(k, "k");
        const Coords<Scalar> kept_at = coords_of(scope.arena, {column, {}}, kept);
        const Coords<Scalar> reduced_at = coords_of(scope.arena, {k, {}}, reduced);
        ScalarPlace place;
        place.coords.emplace();
        place.coords->axis.push_back(scope.row);
        int next_kept = 0, next_reduced = 0;
        for (int i = 1; i < in.rank(); ++i) {
            const bool is_reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
            place.coords->axis.push_back(is_reduced ? reduced_at[next_reduced++]
                                                    : kept_at[next_kept++]);
        }
        writer.line(name + "[round] += " +
                    writer.emit(scope.expressions.read(stage.node->inputs[0], place)) + ";");
        for (int i = 0; i < (is_single ? 1 : 4); ++i) writer.close_scope();
        store_row_sum(v, name, columns, rounds, lane_text);
        return indented(writer.text());
    }

    void store_row_sum(ValueId v, const std::string& name, int columns, int rounds,
                       const std::string& lane_text) {
        const std::string buffer = kernel_.buffers.name_of(v);
        note_store(v);
        if (columns > 1) {
            sums_ += "    {\n    " + lane_text + "\n    UNROLL for (int round = 0; round < " +
                     text(rounds) + "; ++round) {\n        const int column = lane + round * " +
                     text(plan_.threads) + ";\n        if (column < " + text(columns) + ") " +
                     buffer + ".at[group * " + text(columns) + " + column] = " + name +
                     "[round];\n    }\n    }\n";
            return;
        }
        const std::string scratch = text(plan_.scratch_offset);
        const int top = static_cast<int>(std::bit_floor(static_cast<uint32_t>(plan_.threads)));
        HEARTH_ASSERT(top == plan_.threads);
        sums_ += "    barrier();\n    SHARED(" + scratch + " + tid) = " + name + "[0];\n";
        sums_ +=
            "    for (int width = " + text(top / 2) +
            "; width > 0; width /= 2) {\n        barrier();\n        if (tid < width) SHARED(" +
            scratch + " + tid) += SHARED(" + scratch + " + tid + width);\n    }\n";
        sums_ += "    if (tid == 0) " + buffer + ".at[group] = SHARED(" + scratch + ");\n";
    }

    std::string write_sums() const { return sums_; }

    static std::string indented(const std::string& lines) {
        std::string out;
        for (size_t at = 0; at < lines.size();) {
            const size_t end = std::min(lines.find('\n', at), lines.size());
            out += "        " + lines.substr(at, end - at) + "\n";
            at = end + 1;
        }
        return out;
    }

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
    GroupKernel kernel_;
    std::string rows_;
    std::string functions_;
    std::string declarations_;  ///< sums that live as long as the workgroup
    std::string sums_;          ///< stores them
    bool keeps_gradients_ = false;
    mutable bool is_lost_ = false;  ///< a value is wanted that no tile holds
};

}  // namespace

Result<GroupKernel> row_program(const Graph& graph, const RowRegion& region,
                                std::span<const Group* const> groups,
                                const std::vector<bool>& inlined, const LowerOptions& options) {
    HEARTH_ASSIGN(RowPlan plan, plan_rows(graph, region, groups, inlined, options));
    return RowProgramWriter(graph, region, std::move(plan), inlined, options).run();
}

}  // namespace hearth
