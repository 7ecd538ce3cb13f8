// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "codegen/row_program.hpp"

#include "codegen/row_plan.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <bit>
#include <map>
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
        std::string body = "void main() {\n    const int tid = int(gl_LocalInvocationID.x);\n";
        if (on_matrix_cores())
            body +=
                "    const int subgroup = int(gl_SubgroupID);\n"
                "    const int subgroup_lane = int(gl_SubgroupInvocationID);\n";
        body += declarations_;
        body += load_vectors();
        if (plan_.mode == RowWeights::kOnce)
            for (size_t w = 0; w < plan_.weights.size(); ++w)
                if (plan_.weights[w].same_as < 0)
                    body += can_hold(w) ? fetch_weight(w) : load_weight(w, "0");
        if (plan_.mode == RowWeights::kOnce)
            for (size_t w = 0; w < plan_.weights.size(); ++w)
                if (plan_.weights[w].same_as < 0 && can_hold(w)) body += put_weight(w);
        body += tile_loop(levels) + write_sums() + "}\n";
        kernel_.body = "#extension GL_EXT_control_flow_attributes : require\n#define UNROLL ";
        kernel_.body += is_software_ ? "[[dont_unroll]]\n" : "[[unroll]]\n";
        kernel_.body += pool() + functions_ + body;
        if (on_matrix_cores()) round_by_hardware(kernel_.body);
        kernel_.local_size = {static_cast<uint32_t>(plan_.threads), 1, 1};
        kernel_.grid[0] = grid();
        return std::move(kernel_);
    }

  private:
    // ------------------------------------------------------------------------------- the frame

    bool on_matrix_cores() const { return plan_.edge != 0; }

    /// Devices with matrix cores convert to f16 by one instruction, which rounds to nearest even; so
    /// do the matrices' own conversions.
    static void round_by_hardware(std::string& body) {
        constexpr std::string_view kExact = "hearth_round_f16(", kFast = "round_to_half(";
        for (size_t at = 0; (at = body.find(kExact, at)) != std::string::npos;)
            body.replace(at, kExact.size(), kFast);
        body.insert(body.find("shared uvec4"),
                    "float round_to_half(float x) { return float(float16_t(x)); }\n");
    }

    /// Shared memory.  Matrices can be loaded from integers in steps of 16 bytes, whatever the
    /// integers stand for.
    std::string pool() const {
        const std::string size = text(ceil_div(plan_.shared_floats, 4));
        const std::string slot = "pool[(i) >> 2][(i) & 3]";
        if (!on_matrix_cores())
            return "shared vec4 pool[" + size + "];\n#define SHARED(i) " + slot +
                   "\n#define PUT_SHARED(i, value) " + slot + " = value\n";
        return "shared uvec4 pool[" + size + "];\n#define SHARED(i) uintBitsToFloat(" + slot +
               ")\n#define PUT_SHARED(i, value) " + slot +
               " = floatBitsToUint(value)\n"
               "#define SHARED_HALF(i) unpackHalf2x16(pool[(i) >> 3][((i) >> 1) & 3])[(i) & 1]\n"
               "uvec4 to_halfs(vec4 low, vec4 high) {\n"
               "    return uvec4(packHalf2x16(low.xy), packHalf2x16(low.zw),\n"
               "                 packHalf2x16(high.xy), packHalf2x16(high.zw));\n}\n"
               "void from_vectors(vec4 low, vec4 high, out float v[8]) {\n"
               "    UNROLL for (int t = 0; t < 4; ++t) { v[t] = low[t]; v[t + 4] = high[t]; }\n}\n"
               "void from_halfs(uvec4 halfs, out float v[8]) {\n"
               "    from_vectors(vec4(unpackHalf2x16(halfs.x), unpackHalf2x16(halfs.y)),\n"
               "                 vec4(unpackHalf2x16(halfs.z), unpackHalf2x16(halfs.w)), v);\n}\n"
               "uvec4 to_halfs(float v[8]) {\n"
               "    return to_halfs(vec4(v[0], v[1], v[2], v[3]), vec4(v[4], v[5], v[6], v[7]));\n"
               "}\n";
    }

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
                   ") PUT_SHARED(e + " + text(v.offset) + ", " + kernel_.buffers.name_of(v.value) +
                   ".at[e]);\n";
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
        /// Within store_eight: the elements' coordinate, and what it has read of values by eight
        /// neighbours at once.
        std::optional<Scalar> eight;
        std::map<ValueId, Scalar> eights;
        std::string eight_reads;

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
                                   const ScalarPlace& place) {
        if (scope.eight)
            if (const std::optional<Scalar> read = read_by_eight(scope, level, v, place))
                return read;
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
        const double each = tile->is_half() ? 2 : 1;
        const Scalar element = scope.local * (each * tile->stride) + inner + each * tile->offset;
        return scope.arena.load(tile->is_half() ? BufferTable::kSharedHalf : BufferTable::kShared,
                                element, scalar_type(value.dtype));
    }

    /// Eight neighbours of a value as "near[8]", read at once, where its element at `place` is the
    /// row's of the same place.
    std::optional<Scalar> read_by_eight(Scope& scope, uint32_t level, ValueId v,
                                        const ScalarPlace& place) {
        const Value& value = graph_.value(v);
        const int rank = value.shape.rank();
        if (!is_floating(value.dtype) || !place.coords || rank == 0 ||
            place.coords->rank() != rank || value.shape[rank - 1].per_row ||
            value.shape[rank - 1].count % 8 != 0 || (*place.coords)[rank - 1].id != scope.eight->id)
            return std::nullopt;
        const bool has_row =
            rank == 2 && value.shape[0] == region_.rows && (*place.coords)[0].id == scope.row.id;
        if (!has_row && value.shape.element_count() != value.shape[rank - 1]) return std::nullopt;
        const std::string from = eight_source(level, v, has_row);
        if (from.empty()) return std::nullopt;
        if (const auto known = scope.eights.find(v); known != scope.eights.end())
            return known->second;
        const std::string name = "near" + text(v);
        scope.eight_reads += "float " + name + "[8]; " + from + "\n";
        const Scalar element = scope.arena.variable(ScalarType::kF32);
        scope.writer.bind(element, name + "[t]");
        scope.eights.emplace(v, element);
        return element;
    }

    /// Statements that fill "near[8]" of the value; empty if it cannot be read so.
    std::string eight_source(uint32_t level, ValueId v, bool has_row) {
        const Value& value = graph_.value(v);
        const int rank = value.shape.rank();
        const std::string near = "near" + text(v);
        const auto halfs = [&](const std::string& four) {
            return "from_halfs(" + four + ", " + near + ");";
        };
        const auto floats = [&](const std::string& low, const std::string& high) {
            return "from_vectors(" + low + ", " + high + ", " + near + ");";
        };
        const auto shared_floats = [&](const std::string& quad) {
            return floats("uintBitsToFloat(pool[" + quad + "])",
                          "uintBitsToFloat(pool[" + quad + " + 1])");
        };
        // Beyond the row there may be no memory.
        const std::string inside = "min(n0, " + text(value.shape[rank - 1].count - 8) + ")";
        for (const RowVector& vector : plan_.vectors)
            if (vector.value == v && level > 0)
                return has_row ? "" : shared_floats(inside + " / 4 + " + text(vector.offset / 4));
        if (!has_row) return "";
        if (const RowTile* tile = plan_.tile_of(v, level)) {
            const std::string at = "r * " + text(tile->stride / 4) + " + " +
                                   text(tile->offset / 4) + " + " + inside + " / ";
            if (tile->is_half()) return halfs("pool[" + at + "8]");
            return tile->stride % 4 == 0 ? shared_floats(at + "4") : "";
        }
        if (value.kind == ValueKind::kNode && region_.has(value.node)) return "";
        const std::string element = "(row * " + text(row_width(v)) + " + " + inside + ")";
        if (is_plain_half(v))
            return halfs("floatBitsToUint(" + by_four(v) + ".at[" + element + " >> 3])");
        if (!is_plain(v)) return "";
        const std::string four = by_four(v) + ".at[(" + element + " >> 2)";
        return floats(four + "]", four + " + 1]");
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

    int row_width(ValueId v) const {
        return static_cast<int>(without_rows(graph_.value(v).shape).element_count().count);
    }

    /// Stores `content` as element `inner` (text) of row "r" wherever the value is needed.
    void store(Scope& scope, ValueId v, const std::string& content, const std::string& inner,
               const std::string& inside = "") {
        store_shared(scope, v, content, inner, inside);
        store_outside(scope, v, content, inner, inside);
    }

    void store_shared(Scope& scope, ValueId v, const std::string& content, const std::string& inner,
                      const std::string& inside) {
        const ScalarType type = scalar_type(graph_.value(v).dtype);
        if (const RowTile* tile = plan_.tile_for(v)) {
            HEARTH_ASSERT(!tile->is_half());
            std::string kept = shared_content(content, type);
            // Beyond the row lie zeros that products read, or another row.
            const bool has_zeros = tile->padded() > tile->width;
            if (!inside.empty() && has_zeros) kept = inside + " ? " + kept + " : 0.0";
            const std::string guard = !inside.empty() && !has_zeros ? "if (" + inside + ") " : "";
            scope.writer.line(guard + "PUT_SHARED(r * " + text(tile->stride) + " + " + inner +
                              " + " + text(tile->offset) + ", " + kept + ");");
        }
    }

    void store_outside(Scope& scope, ValueId v, const std::string& content,
                       const std::string& inner, const std::string& inside) {
        if (!is_made_[v] || !is_read_outside(v)) return;
        note_store(v);
        const std::string width = text(row_width(v));
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

    bool is_half_tile(ValueId v) const {
        const RowTile* tile = plan_.tile_for(v);
        return tile != nullptr && tile->is_half();
    }

    /// Whether eight neighbours of the value go to shared memory at once.
    bool is_kept_by_eight(ValueId v) const {
        const RowTile* tile = plan_.tile_for(v);
        return tile != nullptr &&
               (tile->is_half() || (graph_.value(v).dtype == DType::kF32 && tile->width % 8 == 0 &&
                                    tile->stride % 4 == 0));
    }

    /// Whether eight neighbours of the value can be stored outside as one or two vectors.
    bool is_stored_by_eight(ValueId v) const {
        const DType dtype = graph_.value(v).dtype;
        return is_made_[v] && is_read_outside(v) && row_width(v) % 8 == 0 &&
               (dtype == DType::kF16 || dtype == DType::kF32);
    }

    /// Works out eight neighbours of each value, the first of them "n0", of row "r", and stores
    /// them.  sum, sum_text: of a product, its result at "n0 + t".  Rows beyond the last are zeros
    /// where products read them: they are summed over with the others.
    void store_eight(Scope& scope, std::span<const ValueId> values, int width,
                     std::optional<Scalar> sum = {}, const std::string& sum_text = "") {
        GlslWriter& writer = scope.writer;
        const bool is_whole = width % 8 == 0;
        const std::string inside = is_whole ? "" : "n < " + text(width);
        for (ValueId v : values)
            if (is_kept_by_eight(v) || is_stored_by_eight(v))
                writer.line("float eight" + text(v) + "[8];");
        writer.line(kReadsMark);
        writer.open_scope("UNROLL for (int t = 0; t < 8; ++t)");
        writer.line("const int n = n0 + t;");
        writer.line("const int nn = min(n, " + text(width - 1) + ");");
        const Scalar inner = scope.arena.variable(ScalarType::kI32);
        writer.bind(inner, "nn");
        scope.eight = inner;
        if (sum) writer.bind(*sum, sum_text);
        std::vector<std::string> contents;
        for (ValueId v : values)
            contents.push_back(
                writer.emit(scope.expressions.read(v, scope.place(graph_.value(v).shape, inner))));
        for (size_t i = 0; i < values.size(); ++i) {
            const ValueId v = values[i];
            if (is_kept_by_eight(v) || is_stored_by_eight(v))
                writer.line("eight" + text(v) + "[t] = " +
                            (is_whole ? contents[i] : inside + " ? " + contents[i] + " : 0.0") +
                            ";");
            const std::string within = "n < " + text(width);
            if (!is_kept_by_eight(v)) store_shared(scope, v, contents[i], "n", within);
            if (!is_stored_by_eight(v)) store_outside(scope, v, contents[i], "n", within);
        }
        writer.close_scope();
        for (ValueId v : values) store_eight_of(scope, v);
    }

    void store_eight_of(Scope& scope, ValueId v) {
        const std::string eight = "eight" + text(v), halfs = "to_halfs(" + eight + ")";
        if (is_half_tile(v)) {
            const RowTile& tile = *plan_.tile_for(v);
            scope.writer.line("pool[r * " + text(tile.stride / 4) + " + " + text(tile.offset / 4) +
                              " + n0 / 8] = r < count ? " + halfs + " : uvec4(0);");
        } else if (is_kept_by_eight(v)) {
            const RowTile& tile = *plan_.tile_for(v);
            scope.writer.open_scope("if (n0 < " + text(tile.width) + ")");
            for (int half = 0; half < 2; ++half)
                scope.writer.line("pool[r * " + text(tile.stride / 4) + " + " +
                                  text(tile.offset / 4 + half) + " + n0 / 4] = floatBitsToUint(" +
                                  four_of(eight, half) + ");");
            scope.writer.close_scope();
        }
        if (!is_stored_by_eight(v)) return;
        note_store(v);
        const std::string width = text(row_width(v));
        const std::string to = by_four(v) + ".at[(row * " + width + " + n0) / ";
        scope.writer.open_scope("if (r < count && n0 < " + width + ")");
        if (graph_.value(v).dtype == DType::kF16) {
            scope.writer.line(to + "8] = uintBitsToFloat(" + halfs + ");");
        } else {
            for (int half = 0; half < 2; ++half)
                scope.writer.line(to + "4 + " + text(half) + "] = " + four_of(eight, half) + ";");
        }
        scope.writer.close_scope();
    }

    static std::string four_of(const std::string& eight, int half) {
        std::string four = "vec4(";
        for (int t = 0; t < 4; ++t)
            four += eight + "[" + text(4 * half + t) + (t < 3 ? "], " : "])");
        return four;
    }

    /// The text of a scope in which store_eight was called once.
    static std::string eight_text(const Scope& scope) {
        std::string lines = scope.writer.text();
        lines.replace(lines.find(kReadsMark), std::string_view(kReadsMark).size(),
                      scope.eight_reads);
        return lines;
    }
    static constexpr const char* kReadsMark = "#reads#";

    // -------------------------------------------------------------------- fills and element-wise

    std::string write_fill(const RowStage& stage, int& lane) {
        const RowTile& tile = plan_.tiles[static_cast<size_t>(stage.left)];
        if (tile.is_half() && is_plain_half(tile.value) && tile.width % 8 == 0)
            return fill_by_eight(tile, lane);
        if (!tile.is_half() && is_plain(tile.value) && tile.width % 4 == 0)
            return fill_by_four(tile, lane);
        return write_elements(stage, {{tile.value}}, tile.width, tile.padded(), lane);
    }

    /// Whether the value is floats in a buffer, not an expression.
    bool is_plain(ValueId v) const { return is_in_buffer(v, DType::kF32); }
    bool is_plain_half(ValueId v) const { return is_in_buffer(v, DType::kF16); }
    bool is_in_buffer(ValueId v, DType dtype) const {
        const Value& value = graph_.value(v);
        return value.dtype == dtype && !(value.kind == ValueKind::kNode && inlined_[value.node]) &&
               value.shape.element_count() != Dim(1);
    }

    std::string fill_by_eight(const RowTile& tile, int& lane) {
        const int eights = tile.padded() / 8, inside = tile.width / 8;
        const int tasks = plan_.tile_rows * eights;
        std::string out = "            " + lane_line(lane, tasks) + "\n";
        out += "            for (int e = lane; e < " + text(tasks) +
               "; e += " + text(plan_.threads) + ") {\n";
        out += "                const int r = e / " + text(eights) + ", q = e % " + text(eights) +
               ";\n                pool[r * " + text(tile.stride / 4) + " + q + " +
               text(tile.offset / 4) + "] = r < count" +
               (inside < eights ? " && q < " + text(inside) : "") + " ? floatBitsToUint(" +
               by_four(tile.value) + ".at[(first + r) * " + text(inside) +
               " + q]) : uvec4(0);\n            }\n";
        return out;
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
        if (std::any_of(values.begin(), values.end(), [&](ValueId v) { return is_half_tile(v); })) {
            const std::string eights = text(ceil_div(padded, 8));
            const int eight_tasks = plan_.tile_rows * ceil_div(padded, 8);
            writer.line(lane_line(lane, eight_tasks));
            writer.open_scope("for (int e = lane; e < " + text(eight_tasks) +
                              "; e += " + text(plan_.threads) + ")");
            writer.line("const int r = e / " + eights + ", n0 = e % " + eights + " * 8;");
            scope.open_row();
            store_eight(scope, values, width);
            writer.close_scope();
            return indented(eight_text(scope));
        }
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
        const std::string slot = text(plan_.scratch_offset) + " + tid";
        const auto number = [&](const std::string& thread) {
            return shared_element(text(plan_.scratch_offset) + " + " + thread, type);
        };
        writer.line("PUT_SHARED(" + slot + ", " + shared_content(sum, type) + ");");
        writer.line("barrier();");
        for (int width = lanes / 2; width > 0; width /= 2) {
            writer.line(
                "if (sub < " + text(width) + ") PUT_SHARED(" + slot + ", " +
                shared_content(
                    fold_combine(fold, type, number("tid"), number("tid + " + text(width))), type) +
                ");");
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
                            "; k < " + text(tile->padded()) + "; ++k) PUT_SHARED(r * " +
                            text(tile->stride) + " + k + " + text(tile->offset) + ", 0.0);");
            }
        }
        if (single.empty()) return;
        writer.open_scope("if (is_mine && sub == 0)");
        store_row(scope, single, o, "o");
        for (ValueId v : single) {
            const RowTile* tile = plan_.tile_for(v);
            if (tile == nullptr || tile->padded() == tile->width) continue;
            writer.line("if (o == 0) for (int k = " + text(tile->width) + "; k < " +
                        text(tile->padded()) + "; ++k) PUT_SHARED(r * " + text(tile->stride) +
                        " + k + " + text(tile->offset) + ", 0.0);");
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
        if (on_matrix_cores()) return half_weight_copy(index, from);
        const int quads = w.line_width() / 4;
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

    /// The same for f16, eight elements at a time.  All that products may read is filled.
    WeightCopy half_weight_copy(size_t index, const std::string& from) {
        const RowWeight& w = plan_.weights[index];
        const int eights = w.line_width() / 8;
        const int i_end = w.is_dot ? w.outer : w.inner, j_end = w.is_dot ? w.inner : w.outer;
        WeightCopy copy;
        copy.quads = w.padded_lines() * eights;
        copy.at = "const int line = e / " + text(eights) + ", quad = e % " + text(eights) + "; ";
        copy.at += w.is_dot ? "const int i = line, j = " + from + " + 8 * quad;"
                            : "const int i = " + from + " + line, j = 8 * quad;";
        copy.to = "pool[line * " + text(w.stride / 4) + " + quad + " + text(w.offset / 4) + "]";
        const ValueId wide = rounded_from(w.value);
        const std::string element = "(i * " + text(j_end) + " + j)";
        if (j_end % 8 == 0 && is_plain_half(w.value)) {
            copy.value = "floatBitsToUint(" + by_four(w.value) + ".at[" + element + " >> 3])";
        } else if (j_end % 8 == 0 && wide != kNone) {
            const std::string four = by_four(wide) + ".at[(" + element + " >> 2)";
            copy.value = "to_halfs(" + four + "], " + four + " + 1])";
        } else {
            const std::string function = weight_function(index, i_end, j_end);
            copy.value = "to_halfs(" + function + "(i, j), " + function + "(i, j + 4))";
            return copy;
        }
        std::string inside;
        if (w.padded_lines() != i_end || !w.is_whole()) inside = "i < " + text(i_end);
        if (w.line_width() != j_end || !w.is_whole())
            inside += (inside.empty() ? "j < " : " && j < ") + text(j_end);
        if (!inside.empty()) copy.value = "(" + inside + " ? " + copy.value + " : uvec4(0))";
        return copy;
    }

    /// The floats in a buffer that an expression rounds to f16, and does nothing else to; or kNone.
    ValueId rounded_from(ValueId v) const {
        const Value& value = graph_.value(v);
        if (value.kind != ValueKind::kNode || !inlined_[value.node]) return kNone;
        const Node& node = graph_.nodes[value.node];
        return node.op->name == "cast" && is_plain(node.inputs[0]) ? node.inputs[0] : kNone;
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
        return std::string(on_matrix_cores() ? "        uvec4" : "        vec4") + " held" +
               text(static_cast<int64_t>(index)) + "[" + each +
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
        const int quads = w.padded_lines() * w.line_width() / (on_matrix_cores() ? 8 : 4);
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

    /// The loop over chunks of a product's weights that come into shared memory one by one.
    std::string open_chunks(size_t weight) {
        const RowWeight& w = plan_.weights[weight];
        std::string out = "            for (int k0 = 0; k0 < " + text(w.inner) +
                          "; k0 += " + text(w.chunk) + ") {\n";
        if (!w.is_whole()) out += "            barrier();\n";
        return out + load_weight(weight, "k0") + "            barrier();\n";
    }

    std::string write_product(const RowStage& stage, int& lane) {
        if (on_matrix_cores()) return write_matrix_product(stage, lane);
        const auto index = static_cast<size_t>(stage.weight);
        const RowWeight& w = plan_.weights[index];
        const RowTile& x = plan_.tiles[static_cast<size_t>(stage.left)];
        const Deal deal = deal_product(w.outer);
        std::string out = "            " + lane_line(lane, deal.tasks) + "\n";
        out += "            vec4 acc[" + text(deal.rounds * deal.lines) + "];\n";
        out += "            UNROLL for (int i = 0; i < " + text(deal.rounds * deal.lines) +
               "; ++i) acc[i] = vec4(0);\n";
        const bool in_chunks = plan_.mode == RowWeights::kChunked;
        if (in_chunks) out += open_chunks(index);
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

    // ------------------------------------------------------------------------ on matrix cores

    /// Sizes of one matrix product.
    int matrix_m() const { return static_cast<int>(options_.caps.matrix.m); }
    int matrix_n() const { return static_cast<int>(options_.caps.matrix.n); }
    int matrix_k() const { return static_cast<int>(options_.caps.matrix.k); }

    /// As lane_line, for subgroups.
    std::string first_subgroup(int& lane, int tasks) const {
        const int size = plan_.threads / plan_.subgroups, begin = lane / size;
        lane = (lane + tasks * size) % plan_.threads;
        const std::string count = text(plan_.subgroups);
        return "            const int own = " +
               (begin == 0 ? "subgroup"
                           : "(subgroup + " + text(plan_.subgroups - begin) + ") % " + count) +
               ";\n";
    }

    /// Opens the loop over a subgroup's tasks, as many to a row as there are `columns`; ends with
    /// close_tasks().  with_barriers: every subgroup comes by, as often as any other, and does what
    /// is behind mine() if it has a task; some drivers make barriers of a subgroup the workgroup's.
    std::string open_matrix_tasks(int tasks, int columns, const char* names,
                                  bool with_barriers = false) const {
        std::string out;
        out += "            UNROLL for (int round = 0; round < " +
               text(ceil_div(tasks, plan_.subgroups)) +
               "; ++round) {\n                const int task = own + round * " +
               text(plan_.subgroups) + ";\n                ";
        if (!with_barriers) out += mine(tasks);
        return out + "{\n                const int " + names[0] + "0 = task % " + text(columns) +
               ", " + names[1] + "0 = task / " + text(columns) + ";\n";
    }
    /// What is always true should not look like a branch around matrices, which drivers shun.
    std::string mine(int tasks) const {
        return tasks % plan_.subgroups != 0 ? "if (task < " + text(tasks) + ") " : "";
    }

    std::string write_matrix_product(const RowStage& stage, int& lane) {
        const auto index = static_cast<size_t>(stage.weight);
        const RowWeight& w = plan_.weights[index];
        const RowTile& x = plan_.tiles[static_cast<size_t>(stage.left)];
        const int columns = w.padded_outer() / matrix_n();
        const int down = plan_.tile_rows / matrix_m();
        const int lines = down % 2 == 0 && down * columns >= 2 * plan_.subgroups ? 2 : 1;
        const int tasks = down / lines * columns;
        const std::string sums = text(ceil_div(tasks, plan_.subgroups) * lines);
        std::string out = first_subgroup(lane, tasks);
        out += "            hearth_matrix_sum acc[" + sums + "];\n";
        out += "            UNROLL for (int i = 0; i < " + sums +
               "; ++i) acc[i] = hearth_matrix_sum(0.0);\n";
        const bool in_chunks = plan_.mode == RowWeights::kChunked;
        if (in_chunks) out += open_chunks(index);
        out += open_matrix_tasks(tasks, columns, "cr");
        const int steps = std::min(w.chunk, x.padded()) / matrix_k();
        const std::string end = w.is_whole() ? text(steps)
                                             : "min(" + text(steps) + ", (" + text(x.padded()) +
                                                   " - k0) / " + text(matrix_k()) + ")";
        const std::string stride = text(w.stride / 4), k8 = text(matrix_k() / 8),
                          n8 = text(matrix_n() / 8), x_stride = text(x.stride / 4);
        const std::string at = w.is_dot
                                   ? "c0 * " + text(matrix_n() * (w.stride / 4)) + " + k * " + k8
                                   : "k * " + text(matrix_k() * (w.stride / 4)) + " + c0 * " + n8;
        out += "                UNROLL for (int k = 0; k < " + end + "; ++k) {\n";
        out += "                    hearth_matrix_b b;\n";
        out += "                    hearth_matrix_load(b, pool, " + at + " + " +
               text(w.offset / 4) + ", " + stride + ", " + (w.is_dot ? "true" : "false") + ");\n";
        out += "                    UNROLL for (int i = 0; i < " + text(lines) + "; ++i) {\n";
        out += "                        hearth_matrix_a a;\n";
        out += "                        hearth_matrix_load(a, pool, (r0 * " + text(lines) +
               " + i) * " + text(matrix_m() * (x.stride / 4)) + " + k * " + k8 + " + " +
               text(x.offset / 4) + (in_chunks ? " + k0 / 8" : "") + ", " + x_stride +
               ", false);\n";
        const std::string acc = "acc[round * " + text(lines) + " + i]";
        out += "                        " + acc + " = hearth_multiply_add(a, b, " + acc + ");\n";
        out += "                    }\n                }\n" + close_tasks();
        if (in_chunks) out += "            }\n";
        out += open_matrix_tasks(tasks, columns, "cr", true);
        out += "                UNROLL for (int i = 0; i < " + text(lines) + "; ++i) {\n";
        out += spread(acc, tasks) + "                " + mine(tasks) + "{\n";
        out += indented(matrix_epilogue(stage, w, lines)) + "                }\n";
        return out + "                subgroupBarrier();\n                }\n" + close_tasks();
    }

    /// Stores sums in the subgroup's own place in shared memory, where it is known which is which.
    std::string spread(const std::string& sums, int tasks) const {
        return "                " + mine(tasks) + "hearth_matrix_store(" + sums +
               ", pool, subgroup * " + text(matrix_m() * (plan_.matrix_stride / 4)) + " + " +
               text(plan_.matrix_offset / 4) + ", " + text(plan_.matrix_stride / 4) +
               ", false);\n                subgroupBarrier();\n";
    }
    /// Line i of it, as an index of floats.
    std::string spread_line(const std::string& i) const {
        return "(subgroup * " + text(matrix_m()) + " + " + i + ") * " + text(plan_.matrix_stride) +
               " + " + text(plan_.matrix_offset);
    }

    std::string matrix_epilogue(const RowStage& stage, const RowWeight& w, int lines) {
        Scope scope(*this, stage);
        GlslWriter& writer = scope.writer;
        const Scalar sum = scope.arena.variable(ScalarType::kF32);
        scope.expressions.define(stage.node->outputs[0], sum);
        const int size = plan_.threads / plan_.subgroups, eights = matrix_n() / 8;
        writer.open_scope("for (int e = subgroup_lane; e < " + text(matrix_m() * eights) +
                          "; e += " + text(size) + ")");
        writer.line("const int r = (r0 * " + text(lines) + " + i) * " + text(matrix_m()) +
                    " + e / " + text(eights) + ";");
        writer.line("const int n0 = c0 * " + text(matrix_n()) + " + e % " + text(eights) + " * 8;");
        writer.line("const int at = " + spread_line("e / " + text(eights)) + " + e % " +
                    text(eights) + " * 8;");
        scope.open_row();
        scope.eight_reads =
            "float sums[8]; from_vectors(uintBitsToFloat(pool[at / 4]), uintBitsToFloat(pool[at / "
            "4 "
            "+ 1]), sums);\n";
        store_eight(scope, stage.group->stores, w.outer, sum, "sums[t]");
        writer.close_scope();
        return eight_text(scope);
    }

    int matrix_gradient_columns(const RowStage& stage) const {
        return plan_.tiles[static_cast<size_t>(stage.right)].padded() / matrix_n();
    }
    int matrix_gradient_tasks(const RowStage& stage) const {
        return plan_.tiles[static_cast<size_t>(stage.left)].padded() / matrix_m() *
               matrix_gradient_columns(stage);
    }

    std::string write_matrix_gradient(const RowStage& stage, int& lane) {
        const RowTile& a = plan_.tiles[static_cast<size_t>(stage.left)];
        const RowTile& b = plan_.tiles[static_cast<size_t>(stage.right)];
        const int columns = matrix_gradient_columns(stage), tasks = matrix_gradient_tasks(stage);
        const std::string own = first_subgroup(lane, tasks);
        const std::string sums = keeps_gradients_ ? "kept" + text(stage.node->outputs[0]) : "acc";
        const std::string size = text(ceil_div(tasks, plan_.subgroups));
        const std::string clear = "    hearth_matrix_sum " + sums + "[" + size +
                                  "];\n    UNROLL for (int i = 0; i < " + size + "; ++i) " + sums +
                                  "[i] = hearth_matrix_sum(0.0);\n";
        std::string out = own;
        if (keeps_gradients_)
            declarations_ += clear;
        else
            out += clear;
        out += open_matrix_tasks(tasks, columns, "nm");
        out += "                UNROLL for (int r = 0; r < " + text(plan_.tile_rows / matrix_k()) +
               "; ++r) {\n";
        out += "                    hearth_matrix_a a;\n                    hearth_matrix_b b;\n";
        out += "                    hearth_matrix_load(a, pool, r * " +
               text(matrix_k() * (a.stride / 4)) + " + m0 * " + text(matrix_m() / 8) + " + " +
               text(a.offset / 4) + ", " + text(a.stride / 4) + ", true);\n";
        out += "                    hearth_matrix_load(b, pool, r * " +
               text(matrix_k() * (b.stride / 4)) + " + n0 * " + text(matrix_n() / 8) + " + " +
               text(b.offset / 4) + ", " + text(b.stride / 4) + ", false);\n";
        out += "                    " + sums + "[round] = hearth_multiply_add(a, b, " + sums +
               "[round]);\n                }\n" + close_tasks();
        const std::string stores = open_matrix_tasks(tasks, columns, "nm", true) +
                                   store_matrix_gradient(stage, sums) + close_tasks();
        if (keeps_gradients_)
            sums_ += "    {\n" + own + stores + "    }\n";
        else
            out += stores;
        return out;
    }

    std::string store_matrix_gradient(const RowStage& stage, const std::string& sums) {
        const int lines = plan_.tiles[static_cast<size_t>(stage.left)].width;
        const int width = plan_.tiles[static_cast<size_t>(stage.right)].width;
        const ValueId v = stage.node->outputs[0];
        const std::string buffer = kernel_.buffers.name_of(v);
        note_store(v);
        const bool adds = !plan_.is_single && !keeps_gradients_;
        // A workgroup without rows leaves zeros.
        if (adds)
            sums_ += "    if (begin >= end) for (int e = tid; e < " + text(lines * width) +
                     "; e += " + text(plan_.threads) + ") " + buffer + ".at[group * " +
                     text(lines * width) + " + e] = 0.0;\n";
        const int tasks = matrix_gradient_tasks(stage);
        if (!adds && lines % matrix_m() == 0 && width % matrix_n() == 0)
            return "                " + mine(tasks) + "hearth_matrix_store(" + sums + "[round], " +
                   buffer + ".at, (group * " + text(lines) + " + m0 * " + text(matrix_m()) +
                   ") * " + text(width) + " + n0 * " + text(matrix_n()) + ", " + text(width) +
                   ", false);\n";
        const std::string n = text(matrix_n());
        std::string out = spread(sums + "[round]", tasks);
        out += "                " + mine(tasks) + "for (int e = subgroup_lane; e < " +
               text(matrix_m() * matrix_n()) + "; e += " + text(plan_.threads / plan_.subgroups) +
               ") {\n";
        out += "                    const int i = m0 * " + text(matrix_m()) + " + e / " + n +
               ", j = n0 * " + n + " + e % " + n + ";\n";
        out += "                    const int to = (group * " + text(lines) + " + i) * " +
               text(width) + " + j;\n";
        const std::string sum = "SHARED(" + spread_line("e / " + n) + " + e % " + n + ")";
        out += "                    if (i < " + text(lines) + " && j < " + text(width) + ") " +
               buffer + ".at[to] = " +
               (adds ? "first != begin ? " + buffer + ".at[to] + " + sum + " : " + sum : sum) +
               ";\n                }\n                subgroupBarrier();\n";
        return out;
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
            if (stage.kind == RowStageKind::kGradient && on_matrix_cores()) {
                const int of_one = matrix_m() * matrix_n() / (plan_.threads / plan_.subgroups);
                floats += ceil_div(matrix_gradient_tasks(stage), plan_.subgroups) * of_one;
            } else if (stage.kind == RowStageKind::kGradient) {
                const Deal deal = deal_gradient(stage);
                floats += deal.rounds * deal.lines * 4;
            }
        keeps_gradients_ = !plan_.is_single && floats <= kMaxKeptFloats;
    }

    std::string write_gradient(const RowStage& stage, int& lane) {
        if (on_matrix_cores()) return write_matrix_gradient(stage, lane);
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
        if (const RowTile* tile = plan_.tile_for(stage.node->inputs[0]);
            tile != nullptr && sums_by_eight(stage, *tile))
            return write_sum_by_eight(*tile, v, lane);
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
        // Rows are dealt to as many threads as there are, in turns.
        int slices = 1;
        while (columns > 1 && 2 * slices * columns <= plan_.threads &&
               2 * slices <= plan_.tile_rows)
            slices *= 2;
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
        const std::string lane_text = lane_line(lane, is_single ? plan_.threads : columns * slices);
        writer.line(lane_text);
        if (is_single) {
            writer.open_scope("for (int e = lane; e < count * " + text(length) +
                              "; e += " + text(plan_.threads) + ")");
            writer.line("const int r = e / " + text(length) + ", k = e % " + text(length) +
                        ", column = 0, round = 0;");
        } else {
            writer.open_scope("UNROLL for (int round = 0; round < " + text(rounds) + "; ++round)");
            if (slices > 1)
                writer.line("const int column = lane % " + text(columns) + ", slice = lane / " +
                            text(columns) + ";");
            else
                writer.line("const int column = lane + round * " + text(plan_.threads) +
                            ", slice = 0;");
            writer.open_scope(slices > 1 ? "if (slice < " + text(slices) + ")"
                                         : "if (column < " + text(columns) + ")");
            writer.open_scope("for (int r = slice; r < count; r += " + text(slices) + ")");
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
        if (slices > 1)
            store_sliced_sum(v, name, columns, slices, lane_text);
        else
            store_row_sum(v, name, columns, rounds, lane_text);
        return indented(writer.text());
    }

    /// Whether a sum over rows alone can be taken eight columns at a time, in turns of threads whose
    /// sums at the end find room where the tiles were.
    bool sums_by_eight(const RowStage& stage, const RowTile& tile) const {
        const int eights = tile.width / 8;
        return tile.is_half() && tile.width % 8 == 0 && std::has_single_bit(uint32_t(eights)) &&
               eights <= plan_.threads && 8 * plan_.threads <= plan_.shared_floats &&
               graph_.value(stage.node->inputs[0]).shape.rank() == 2 &&
               stage.node->attrs.integers("axes").size() == 1;
    }

    std::string write_sum_by_eight(const RowTile& tile, ValueId v, int& lane) {
        const std::string name = "total" + text(v), eights = text(tile.width / 8);
        int slices = 1;
        while (2 * slices <= plan_.tile_rows && 2 * slices * (tile.width / 8) <= plan_.threads)
            slices *= 2;
        declarations_ += "    float " + name + "[8];\n    UNROLL for (int t = 0; t < 8; ++t) " +
                         name + "[t] = 0.0;\n";
        const std::string lane_text = lane_line(lane, slices * (tile.width / 8)) +
                                      "\n            const int q = lane % " + eights +
                                      ", slice = lane / " + eights + ";\n";
        note_store(v);
        const std::string width = text(tile.width);
        sums_ += "    barrier();\n    {\n            " + lane_text + "        if (slice < " +
                 text(slices) + ") {\n";
        for (int half = 0; half < 2; ++half)
            sums_ += "            pool[2 * lane + " + text(half) + "] = floatBitsToUint(" +
                     four_of(name, half) + ");\n";
        sums_ += "        }\n        barrier();\n        for (int c = tid; c < " + width +
                 "; c += " + text(plan_.threads) +
                 ") {\n            float sum = 0.0;\n            for (int s = 0; s < " +
                 text(slices) + "; ++s) sum += SHARED(s * " + width + " + c);\n            " +
                 kernel_.buffers.name_of(v) + ".at[group * " + width +
                 " + c] = sum;\n        }\n    }\n    barrier();\n";
        return "            " + lane_text + "            if (slice < " + text(slices) +
               ") for (int r = slice; r < count; r += " + text(slices) +
               ") {\n                float near[8]; from_halfs(pool[r * " + text(tile.stride / 4) +
               " + q + " + text(tile.offset / 4) +
               "], near);\n                UNROLL for (int t = 0; t < 8; ++t) " + name +
               "[t] += near[t];\n            }\n";
    }

    void store_sliced_sum(ValueId v, const std::string& name, int columns, int slices,
                          const std::string& lane_text) {
        note_store(v);
        const std::string scratch = text(plan_.scratch_offset) + " + lane";
        sums_ += "    barrier();\n    {\n    " + lane_text + "\n    PUT_SHARED(" + scratch + ", " +
                 name + "[0]);\n    barrier();\n    if (lane < " + text(columns) +
                 ") {\n        float sum = SHARED(" + scratch + ");\n        for (int s = 1; s < " +
                 text(slices) + "; ++s) sum += SHARED(" + scratch + " + s * " + text(columns) +
                 ");\n        " + kernel_.buffers.name_of(v) + ".at[group * " + text(columns) +
                 " + lane] = sum;\n    }\n    }\n";
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
        sums_ += "    barrier();\n    PUT_SHARED(" + scratch + " + tid, " + name + "[0]);\n";
        sums_ +=
            "    for (int width = " + text(top / 2) +
            "; width > 0; width /= 2) {\n        barrier();\n        if (tid < width) PUT_SHARED(" +
            scratch + " + tid, SHARED(" + scratch + " + tid) + SHARED(" + scratch +
            " + tid + width));\n    }\n";
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
