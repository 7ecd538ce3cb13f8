// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What stages of a row program read and where they store it.

#include "codegen/row_matrix_writer.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>

namespace hearth {

std::optional<Scalar> MatrixRowWriter::resident(Scope& scope, uint32_t level, ValueId v,
                                                const ScalarPlace& place) {
    for (const std::shared_ptr<const Group>& number : numbers_) {
        if (std::find(number->stores.begin(), number->stores.end(), v) == number->stores.end())
            continue;
        const Scalar variable = scope.arena.variable(scalar_type(graph_.value(v).dtype));
        scope.writer.bind(variable, "number" + text(v));
        return variable;
    }
    if (scope.by_matrix) return matrix_element(scope, level, v, place);
    if (scope.eight)
        if (const std::optional<Scalar> read = read_by_eight(scope, level, v, place)) return read;
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

std::optional<Scalar> MatrixRowWriter::read_by_eight(Scope& scope, uint32_t level, ValueId v,
                                                     const ScalarPlace& place) {
    const Value& value = graph_.value(v);
    const int rank = value.shape.rank();
    if (!is_floating(value.dtype) || !place.coords || rank == 0 || place.coords->rank() != rank ||
        value.shape[rank - 1].per_row || value.shape[rank - 1].count % 8 != 0 ||
        (*place.coords)[rank - 1].id != scope.eight->id)
        return std::nullopt;
    const bool has_row =
        rank == 2 && value.shape[0] == region_.rows && (*place.coords)[0].id == scope.row.id;
    if (!has_row && value.shape.element_count() != value.shape[rank - 1]) return std::nullopt;
    const std::string from = eight_source(level, v, has_row);
    if (from.empty()) return std::nullopt;
    if (const auto known = scope.eights.find(v); known != scope.eights.end()) return known->second;
    const std::string name = "near" + text(v);
    scope.eight_reads += "float " + name + "[8]; " + from + "\n";
    const Scalar element = scope.arena.variable(ScalarType::kF32);
    scope.writer.bind(element, name + "[t]");
    scope.eights.emplace(v, element);
    return element;
}

std::string MatrixRowWriter::eight_source(uint32_t level, ValueId v, bool has_row) {
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
        const std::string at = "r * " + text(tile->stride / 4) + " + " + text(tile->offset / 4) +
                               " + " + inside + " / ";
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

std::string MatrixRowWriter::by_four(ValueId v) {
    std::vector<uint32_t>& known = kernel_.vector_loads;
    if (std::find(known.begin(), known.end(), v) == known.end()) known.push_back(v);
    return kernel_.buffers.name_of(v) + "v";
}

void MatrixRowWriter::note_store(ValueId v) {
    if (std::find(kernel_.stores.begin(), kernel_.stores.end(), v) == kernel_.stores.end())
        kernel_.stores.push_back(v);
}

bool MatrixRowWriter::is_read_outside(ValueId v) const {
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

int MatrixRowWriter::row_width(ValueId v) const {
    return static_cast<int>(without_rows(graph_.value(v).shape).element_count().count);
}

void MatrixRowWriter::store(Scope& scope, ValueId v, const std::string& content,
                            const std::string& inner, const std::string& inside) {
    store_shared(scope, v, content, inner, inside);
    store_outside(scope, v, content, inner, inside);
}

void MatrixRowWriter::store_shared(Scope& scope, ValueId v, const std::string& content,
                                   const std::string& inner, const std::string& inside) {
    const ScalarType type = scalar_type(graph_.value(v).dtype);
    if (const RowTile* tile = plan_.tile_for(v)) {
        HEARTH_ASSERT(!tile->is_half());
        std::string kept = shared_content(content, type);
        // Beyond the row lie zeros that products read, or another row.
        const bool has_zeros = tile->padded() > tile->width;
        if (!inside.empty() && has_zeros) kept = inside + " ? " + kept + " : 0.0";
        const std::string guard = !inside.empty() && !has_zeros ? "if (" + inside + ") " : "";
        scope.writer.line(guard + "PUT_SHARED(r * " + text(tile->stride) + " + " + inner + " + " +
                          text(tile->offset) + ", " + kept + ");");
    }
}

void MatrixRowWriter::store_outside(Scope& scope, ValueId v, const std::string& content,
                                    const std::string& inner, const std::string& inside) {
    if (!is_made_[v] || !is_read_outside(v)) return;
    note_store(v);
    const std::string width = text(row_width(v));
    scope.writer.line("if (r < count" + (inside.empty() ? "" : " && " + inside) + ") " +
                      kernel_.buffers.store(v, "row * " + width + " + " + inner, content));
}

void MatrixRowWriter::store_row(Scope& scope, std::span<const ValueId> values, Scalar inner,
                                const std::string& inner_text, const std::string& inside) {
    std::vector<std::string> contents;
    for (ValueId v : values)
        contents.push_back(scope.writer.emit(
            scope.expressions.read(v, scope.place(graph_.value(v).shape, inner))));
    for (size_t i = 0; i < values.size(); ++i)
        store(scope, values[i], contents[i], inner_text, inside);
}

bool MatrixRowWriter::is_half_tile(ValueId v) const {
    const RowTile* tile = plan_.tile_for(v);
    return tile != nullptr && tile->is_half();
}

bool MatrixRowWriter::is_kept_by_eight(ValueId v) const {
    const RowTile* tile = plan_.tile_for(v);
    return tile != nullptr && (tile->is_half() || (graph_.value(v).dtype == DType::kF32 &&
                                                   tile->width % 8 == 0 && tile->stride % 4 == 0));
}

bool MatrixRowWriter::is_stored_by_eight(ValueId v) const {
    const DType dtype = graph_.value(v).dtype;
    return is_made_[v] && is_read_outside(v) && row_width(v) % 8 == 0 &&
           (dtype == DType::kF16 || dtype == DType::kF32);
}

void MatrixRowWriter::store_eight(Scope& scope, std::span<const ValueId> values, int width,
                                  std::optional<Scalar> sum, const std::string& sum_text) {
    GlslWriter& writer = scope.writer;
    const bool is_whole = width % 8 == 0;
    const std::string inside = is_whole ? "" : "n < " + text(width);
    for (ValueId v : values)
        if (is_kept_by_eight(v) || is_stored_by_eight(v))
            writer.line("float eight" + text(v) + "[8];");
    writer.leave_room();
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
                        (is_whole ? contents[i] : inside + " ? " + contents[i] + " : 0.0") + ";");
        const std::string within = "n < " + text(width);
        if (!is_kept_by_eight(v)) store_shared(scope, v, contents[i], "n", within);
        if (!is_stored_by_eight(v)) store_outside(scope, v, contents[i], "n", within);
    }
    writer.close_scope();
    for (ValueId v : values) store_eight_of(scope, v);
}

void MatrixRowWriter::store_eight_of(Scope& scope, ValueId v) {
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

std::string MatrixRowWriter::four_of(const std::string& eight, int half) {
    std::string four = "vec4(";
    for (int t = 0; t < 4; ++t) four += eight + "[" + text(4 * half + t) + (t < 3 ? "], " : "])");
    return four;
}

std::string MatrixRowWriter::eight_text(Scope& scope) {
    scope.writer.fill_room(std::move(scope.eight_reads));
    return scope.writer.text(kStageMargin);
}
}  // namespace hearth
