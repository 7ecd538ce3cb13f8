// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A row program on matrix cores whose subgroups keep their own rows in registers, as matrices, from
// the first layer to the last and back.  The sums of a layer become the next one's left factor, and
// element-wise work is done on elements of matrices wherever they are: what it needs of other
// tensors comes as matrices too, a bias as one whose lines have a stride of 0, so nobody asks which
// element is which.  Only at the edge, where rows or columns end, matrices of numbers tell.
//
// Layers wait for no other subgroup.  For weight gradients subgroups share both factors in shared
// memory, step by step (RowStep), and each adds up matrices of its own, from tile to tile.

#include "codegen/row_matrix_writer.hpp"
#include "ir/scalar_operands.hpp"

#include <algorithm>

namespace hearth {

namespace {

/// Whether the expression's value depends on one of the variables.
bool depends_on(const ScalarArena& arena, Scalar value, std::span<const Scalar> variables) {
    std::vector<uint32_t> stack{value.id};
    std::vector<bool> seen(arena.size(), false);
    while (!stack.empty()) {
        const uint32_t id = stack.back();
        stack.pop_back();
        if (seen[id]) continue;
        seen[id] = true;
        for (const Scalar& v : variables)
            if (v.id == id) return true;
        const ScalarNode& node = arena.node(id);
        const uint32_t operands[] = {node.a, node.b, node.c};
        const auto count = static_cast<size_t>(operand_count(node.op));
        stack.insert(stack.end(), operands, operands + count);
    }
    return false;
}

}  // namespace

// ------------------------------------------------------------------------------------- frame

std::string MatrixRowWriter::write_registers_tile() {
    std::string out =
        "        const int base = subgroup * " + text(plan_.blocks * matrix_m()) + ";\n";
    if (slides()) out += block_window();
    vanishing_.clear();
    const bool stays = plan_.mode == RowWeights::kOnce;
    if (!stays) out += stage_weights(forward_weights()) + "        barrier();\n";
    out += write_register_stages(0, plan_.back);
    if (plan_.steps.empty()) return out;
    if (!stays) out += "        barrier();\n" + first_back_weight();
    for (const RowStep& step : plan_.steps) out += write_step(step, stays);
    return out;
}

/// Where rows are summed over, a block at the end of all rows moves back to where there are enough of
/// them, and sums leave out the rows that another block has.  With fewer rows than a block has, each
/// block has one of them, again and again.  So one code does for all tiles: with a second one beside
/// it NVIDIA's compiler (580) runs out of registers.
std::string MatrixRowWriter::block_window() const {
    return "        const int start = is_few ? min(first + subgroup, last_row) : min(first + base, "
           "last_row - " +
           text(matrix_m() - 1) +
           ");\n        const int skip = is_few ? 0 : first + base - start;\n"
           "        const int stop = is_few ? (first + subgroup < end ? 1 : 0) : end - start;\n";
}

std::vector<size_t> MatrixRowWriter::forward_weights() const {
    std::vector<size_t> weights;
    for (size_t i = 0; i < plan_.back; ++i) {
        const RowStage& stage = plan_.stages[i];
        if (stage.kind != RowStageKind::kProduct) continue;
        const auto w = static_cast<size_t>(stage.weight);
        if (plan_.weights[w].same_as < 0) weights.push_back(w);
    }
    return weights;
}

/// Weights are all on their way before the first of them is waited for.
std::string MatrixRowWriter::stage_weights(std::span<const size_t> weights) {
    std::string out;
    for (size_t w : weights)
        if (can_hold(w)) out += fetch_weight(w);
    for (size_t w : weights) out += can_hold(w) ? put_weight(w) : load_weight(w, "0");
    return "        {\n" + out + "        }\n";
}

/// The weights of the first product on the way back lie in their place already, if a layer used
/// them before.
std::string MatrixRowWriter::first_back_weight() {
    if (plan_.back >= plan_.computes) return {};
    const auto w = static_cast<size_t>(plan_.stages[plan_.back].weight);
    if (plan_.weights[w].same_as >= 0) return {};
    return load_weight(w, "0") + "        barrier();\n";
}

std::string MatrixRowWriter::write_step(const RowStep& step, bool stays) {
    const bool fetches = !stays && step.next_weight >= 0;
    const auto next = static_cast<size_t>(std::max(step.next_weight, 0));
    std::string out;
    if (step.gradient >= 0) out += share_factors(plan_.stages[static_cast<size_t>(step.gradient)]);
    out += write_register_stages(step.first, step.last);
    if (step.gradient < 0 && !fetches) return out;
    out += "        barrier();\n";
    if (fetches && can_hold(next)) out += fetch_weight(next);
    if (step.gradient >= 0) {
        out += write_register_gradient(plan_.stages[static_cast<size_t>(step.gradient)]);
        for (int s : step.sums)
            out += write_register_column_sum(plan_.stages[static_cast<size_t>(step.gradient)],
                                             plan_.stages[static_cast<size_t>(s)]);
    }
    if (fetches) out += can_hold(next) ? put_weight(next) : load_weight(next, "0");
    return out + "        barrier();\n";
}

// ----------------------------------------------------------------------------------- matrices

std::string MatrixRowWriter::matrices_of(ValueId v) const {
    return (graph_.value(v).dtype == DType::kF16 ? "halfs" : "sums") + text(v);
}

int MatrixRowWriter::matrix_columns(ValueId v) const {
    return ceil_div(row_width(v), matrix_n());
}

/// "m" is a block of rows, "c" a column of matrices, "i" the matrix.
std::string MatrixRowWriter::open_matrices(int columns) const {
    return "            UNROLL for (int m = 0; m < " + text(plan_.blocks) +
           "; ++m) UNROLL for (int c = 0; c < " + text(columns) +
           "; ++c) {\n            const int i = m * " + text(columns) + " + c;\n";
}

/// Makes a value's matrix "nearV", where the stage that is being written has it; or is empty.
std::string MatrixRowWriter::near_matrix(uint32_t level, ValueId v) {
    const Value& value = graph_.value(v);
    const std::string near = "near" + text(v);
    if (plan_.in_registers && is_in_registers(v))
        return "hearth_matrix_sum " + near + " = " +
               (value.dtype == DType::kF16 ? "hearth_matrix_sum(" + matrices_of(v) + "[i]);"
                                           : matrices_of(v) + "[i];");
    if (const RowTile* tile = plan_.tile_of(v, level); tile != nullptr && !plan_.in_registers) {
        const std::string place = tile_block(*tile);
        if (place.empty()) return {};
        const std::string declared = "hearth_matrix_sum " + near;
        return tile->is_half()
                   ? "hearth_matrix_half half" + text(v) + "; hearth_matrix_load(half" + text(v) +
                         place + declared + " = hearth_matrix_sum(half" + text(v) + ");"
                   : declared + "; hearth_matrix_load(" + near + place;
    }
    if (value.kind == ValueKind::kNode && region_.has(value.node)) return {};
    if (!is_plain(v) && !is_plain_half(v)) return {};
    return is_whole_tile_ && row_width(v) % matrix_n() != 0 && !plan_.in_registers
               ? ""
               : load_block(v, near);
}

bool MatrixRowWriter::is_in_registers(ValueId v) const {
    return is_made_[v] ||
           std::any_of(plan_.stages.begin(), plan_.stages.end(), [&](const RowStage& s) {
               return s.kind == RowStageKind::kFill &&
                      plan_.tiles[static_cast<size_t>(s.left)].value == v;
           });
}

/// Where block "m" and column "c" of a tile lie in shared memory, behind the matrix to be loaded or
/// stored; empty if they are not in steps of 16 bytes.
std::string MatrixRowWriter::tile_block(const RowTile& tile) const {
    if (tile.stride % 4 != 0 || tile.offset % 4 != 0) return {};
    return ", pool, m * " + text(matrix_m() * tile.stride / 4) + " + c * " +
           text(matrix_n() / (tile.is_half() ? 8 : 4)) + " + " + text(tile.offset / 4) + ", " +
           text(tile.stride / 4) + ", false); ";
}

/// Declares a matrix of a plain value's rows and columns, loaded at once or, at the edge, element by
/// element.
std::string MatrixRowWriter::load_block(ValueId v, const std::string& name) {
    const std::string by_element = load_elements(v, name);
    const std::string declared = "hearth_matrix_sum " + name + ";\n";
    if (row_width(v) % matrix_n() != 0) return declared + by_element;
    const std::string whole = graph_.value(v).dtype == DType::kF16
                                  ? "{ hearth_matrix_half halfs; " + load_whole(v, "halfs") + name +
                                        " = hearth_matrix_sum(halfs); }"
                                  : load_whole(v, name);
    if (is_whole_tile_) return declared + whole + "\n";
    return declared + "if (" + rows_left() + " >= " + text(matrix_m()) + ") " + whole + "\nelse " +
           by_element;
}

std::string MatrixRowWriter::load_whole(ValueId v, const std::string& name) {
    const std::string width = text(row_width(v));
    const auto load = [&](const std::string& stride) {
        return "hearth_matrix_load(" + name + ", " + kernel_.buffers.name_of(v) + ".at, (" +
               block_row() + ") * " + width + " + c * " + text(matrix_n()) + ", " + stride +
               ", false); ";
    };
    return slides() ? "if (is_few) { " + load("0") + "} else { " + load(width) + "} " : load(width);
}

std::string MatrixRowWriter::load_elements(ValueId v, const std::string& name) {
    const int width = row_width(v);
    const std::string element = kernel_.buffers.load(
        v,
        "(min(" + block_row() + " + int(down[e])" + apart() + ", last_row) * " + text(width) +
            " + min(c * " + text(matrix_n()) + " + int(across[e]), " + text(width - 1) + "))",
        ScalarType::kF32);
    return "{ " + positions("down", true) + positions("across", false) +
           "UNROLL for (int e = 0; e < " + name + ".length(); ++e) " + name + "[e] = " + element +
           "; }\n";
}

/// The first row of block "m".
std::string MatrixRowWriter::block_row() const {
    return slides() ? "start" : "first + base + m * " + text(matrix_m());
}

/// A matrix whose elements are the numbers of their lines (down) or columns.
std::string MatrixRowWriter::positions(const std::string& name, bool is_down) const {
    return "hearth_matrix_sum " + name + "; hearth_matrix_load(" + name + ", pool, " +
           text(plan_.positions_offset / 4) + ", 0, " + (is_down ? "true" : "false") + "); ";
}

/// The rows of block "m" and all behind it; may be negative.
std::string MatrixRowWriter::rows_left() const {
    return "(count - base - m * " + text(matrix_m()) + ")";
}

/// How far apart rows of a block are in memory, behind what they are multiplied by.
std::string MatrixRowWriter::apart() const {
    return slides() ? " * apart" : "";
}

/// Makes zeros of what is beyond the last column.
std::string MatrixRowWriter::mask_columns(const std::string& name, int width) const {
    if (width % matrix_n() == 0) return {};
    return "if (c == " + text(width / matrix_n()) + ") { " + positions("across", false) +
           "UNROLL for (int e = 0; e < " + name +
           ".length(); ++e) if (across[e] >= " + text(width % matrix_n()) + ".0) " + name +
           "[e] = 0.0; }\n";
}

/// Makes zeros of rows that sums over rows leave out.
std::string MatrixRowWriter::mask_rows(const std::string& name) const {
    if (!slides()) return {};
    return "{ " + positions("down", true) + "UNROLL for (int e = 0; e < " + name +
           ".length(); ++e) " + name + "[e] = down[e] >= float(skip) && down[e] < float(stop) ? " +
           name + "[e] : 0.0; }\n";
}

/// The same of a stage's value, where that matters and it does not vanish by itself.
std::string MatrixRowWriter::mask_summed(ValueId v) {
    if (!is_summed(v) || !vanishing_.insert(v).second) return {};
    return mask_rows("out" + text(v));
}

/// Whether an expression is zero wherever `zeros` are, other numbers being finite.
bool MatrixRowWriter::vanishes(const Scope& scope, uint32_t id,
                               std::span<const Scalar> zeros) const {
    const ScalarNode& node = scope.arena.node(id);
    const auto of = [&](uint32_t operand) { return vanishes(scope, operand, zeros); };
    switch (node.op) {
        case ScalarOp::kConst:
            return (node.bits & 0x7fffffffu) == 0;
        case ScalarOp::kVariable:
            return std::any_of(zeros.begin(), zeros.end(),
                               [&](const Scalar& zero) { return zero.id == id; });
        case ScalarOp::kNeg:
        case ScalarOp::kAbs:
        case ScalarOp::kRoundF16:
        case ScalarOp::kDiv:
            return of(node.a);
        case ScalarOp::kMul:
            return of(node.a) || of(node.b);
        case ScalarOp::kAdd:
        case ScalarOp::kSub:
            return of(node.a) && of(node.b);
        case ScalarOp::kSelect:
            return of(node.b) && of(node.c);
        default:
            return false;
    }
}

/// Whether a sum over rows needs zeros of the value in rows that it leaves out: of a gradient's two
/// factors, the one that is made later, as it has more reason to vanish.
bool MatrixRowWriter::is_summed(ValueId v) const {
    const auto made = [&](int tile) {
        const ValueId value = plan_.tiles[static_cast<size_t>(tile)].value;
        const auto makes = [&](const RowStage& s) {
            return s.group != nullptr && std::find(s.group->stores.begin(), s.group->stores.end(),
                                                   value) != s.group->stores.end();
        };
        return std::find_if(plan_.stages.begin(), plan_.stages.end(), makes) - plan_.stages.begin();
    };
    const auto is_outside = [&](std::ptrdiff_t stage) {
        return stage == static_cast<std::ptrdiff_t>(plan_.stages.size());
    };
    return std::any_of(plan_.stages.begin(), plan_.stages.end(), [&](const RowStage& s) {
        if (s.kind == RowStageKind::kRowSum) return s.node->inputs[0] == v;
        if (s.kind != RowStageKind::kGradient) return false;
        const std::ptrdiff_t left = made(s.left), right = made(s.right);
        const bool is_left = is_outside(right) || (!is_outside(left) && left > right);
        return plan_.tiles[static_cast<size_t>(is_left ? s.left : s.right)].value == v;
    });
}

std::string MatrixRowWriter::store_block(ValueId v, const std::string& matrix) {
    if (!is_made_[v] || !is_read_outside(v)) return {};
    is_lost_ = is_lost_ || !is_floating(graph_.value(v).dtype);
    note_store(v);
    const int width = row_width(v);
    const std::string wide =
        graph_.value(v).dtype == DType::kF16 ? "hearth_matrix_sum(" + matrix + ")" : matrix;
    const std::string is_mine = slides() ? "r >= skip && r < stop" : "r < " + rows_left();
    const std::string by_element =
        "{ " + positions("down", true) + positions("across", false) +
        "const hearth_matrix_sum wide = " + wide +
        "; UNROLL for (int e = 0; e < wide.length(); ++e) { const int r = int(down[e]), n = c * " +
        text(matrix_n()) + " + int(across[e]); if (" + is_mine + " && n < " + text(width) + ") " +
        kernel_.buffers.store(
            v, "(" + block_row() + " + r" + apart() + ") * " + text(width) + " + n", "wide[e]") +
        " } }\n";
    if (width % matrix_n() != 0 || slides()) return by_element;
    const std::string whole = "hearth_matrix_store(" + matrix + ", " + kernel_.buffers.name_of(v) +
                              ".at, (" + block_row() + ") * " + text(width) + " + c * " +
                              text(matrix_n()) + ", " + text(width) + ", false);\n";
    if (is_whole_tile_) return whole;
    return "if (" + rows_left() + " >= " + text(matrix_m()) + ") " + whole + "else " + by_element;
}

/// Fills a matrix, in each line of which is the same part of the vector.
std::string MatrixRowWriter::load_vector(const RowVector& vector, const std::string& matrix) const {
    return "hearth_matrix_load(" + matrix + ", pool, " + text(vector.offset / 4) + " + c * " +
           text(matrix_n() / 4) + ", 0, false);";
}

// ---------------------------------------------------------------------------------- expressions

/// An element of a value beside the one that is being worked out, in the same place of its matrix.
std::optional<Scalar> MatrixRowWriter::matrix_element(Scope& scope, uint32_t level, ValueId v,
                                                      const ScalarPlace& place) {
    const Value& value = graph_.value(v);
    const Shape& shape = value.shape;
    const int rank = shape.rank();
    if (shape.element_count() == Dim(1)) return std::nullopt;
    if (const auto known = scope.eights.find(v); known != scope.eights.end()) return known->second;
    const bool is_flag = plan_.in_registers && value.dtype == DType::kBool;
    const bool is_column = (is_floating(value.dtype) || is_flag) && place.coords && rank > 0 &&
                           place.coords->rank() == rank &&
                           ((*place.coords)[rank - 1].id == scope.eight->id ||
                            (scope.is_one_wide && shape[rank - 1].is_one()));
    std::string source;
    if (is_column && rank == 2 && shape[0] == region_.rows && (*place.coords)[0].id == scope.row.id)
        source = near_matrix(level, v);
    else if (is_column && shape.element_count() == shape[rank - 1])
        for (const RowVector& vector : plan_.vectors)
            if (vector.value == v)
                source = "hearth_matrix_sum near" + text(v) + "; " +
                         load_vector(vector, "near" + text(v));
    if (source.empty()) {
        scope.needs_places = true;
        return std::nullopt;
    }
    scope.eight_reads += source + "\n";
    const ScalarType type = scalar_type(value.dtype);
    const Scalar element = scope.arena.variable(type);
    scope.writer.bind(element, is_flag ? std::string(glsl_type(type)) + "(near" + text(v) + "[e])"
                                       : "near" + text(v) + "[e]");
    scope.eights.emplace(v, element);
    return element;
}

/// Works out a matrix "outV" of each value, at block "m" and column "c"; sum: the product's.  Null if
/// that needs to know which element is which.
std::optional<std::string> MatrixRowWriter::matrix_text(const RowStage& stage,
                                                        std::span<const ValueId> values,
                                                        const std::string& sum) {
    Scope scope(*this, stage);
    GlslWriter& writer = scope.writer;
    const Scalar inner = scope.arena.variable(ScalarType::kI32);
    scope.eight = inner;
    scope.by_matrix = true;
    scope.is_one_wide = row_width(values[0]) == 1;
    writer.leave_room();
    if (!sum.empty()) writer.line("const hearth_matrix_sum sum = " + sum + ";");
    for (ValueId v : values) writer.line("hearth_matrix_sum out" + text(v) + ";");
    writer.open_scope("UNROLL for (int e = 0; e < out" + text(values[0]) + ".length(); ++e)");
    const Scalar sum_element = scope.arena.variable(ScalarType::kF32);
    if (!sum.empty()) {
        const bool has_bias = plan_.in_registers && bias_of(stage) != nullptr;
        scope.expressions.define(has_bias ? sum_with_bias(stage) : stage.node->outputs[0],
                                 sum_element);
        writer.bind(sum_element, "sum[e]");
    }
    std::vector<std::string> contents;
    std::vector<Scalar> elements;
    const Scalar places[] = {scope.row, scope.local, inner};
    for (ValueId v : values) {
        if (graph_.value(v).shape.rank() != 2) return std::nullopt;
        Scalar element = scope.expressions.read(v, scope.place(graph_.value(v).shape, inner));
        const ScalarNode node = scope.arena.node(element.id);
        // The matrix rounds.
        if (graph_.value(v).dtype == DType::kF16 && node.op == ScalarOp::kRoundF16)
            element = {&scope.arena, node.a};
        if (scope.needs_places || depends_on(scope.arena, element, places)) return std::nullopt;
        contents.push_back(writer.emit(element));
        elements.push_back(element);
    }
    for (size_t i = 0; i < values.size(); ++i)
        writer.line("out" + text(values[i]) + "[e] = float(" + contents[i] + ");");
    writer.close_scope();
    std::vector<Scalar> zeros;
    for (const auto& [v, element] : scope.eights)
        if (vanishing_.contains(v)) zeros.push_back(element);
    if (!sum.empty() && bias_of(stage) == nullptr &&
        vanishing_.contains(plan_.tiles[static_cast<size_t>(stage.left)].value))
        zeros.push_back(sum_element);
    for (size_t i = 0; i < values.size(); ++i)
        if (vanishes(scope, elements[i].id, zeros)) vanishing_.insert(values[i]);
    return eight_text(scope);
}

/// A stage's values as matrices in registers; sums: of a product; and_then: for each matrix.
std::string MatrixRowWriter::write_matrices(const RowStage& stage, std::span<const ValueId> values,
                                            const std::string& sums, const std::string& and_then) {
    const auto worked_out = matrix_text(stage, values, sums.empty() ? "" : sums + "[i]");
    is_lost_ = is_lost_ || !worked_out;
    if (is_lost_) return {};
    std::string declared, stores;
    for (ValueId v : values) {
        const bool is_half = graph_.value(v).dtype == DType::kF16;
        const std::string out = "out" + text(v);
        declared += "        " + matrix_type(v) + " " + matrices_of(v) + "[" +
                    text(plan_.blocks * matrix_columns(v)) + "];\n";
        if (is_half) stores += mask_columns(out, row_width(v)) + mask_summed(v);
        stores += matrices_of(v) +
                  "[i] = " + (is_half ? "hearth_matrix_half(" + out + ");\n" : out + ";\n");
        stores += store_block(v, matrices_of(v) + "[i]");
    }
    return declared + "        {\n" + open_matrices(matrix_columns(values[0])) + *worked_out +
           stores + and_then + "            }\n        }\n";
}

std::string MatrixRowWriter::matrix_type(ValueId v) const {
    return graph_.value(v).dtype == DType::kF16 ? "hearth_matrix_half" : "hearth_matrix_sum";
}

/// Stores the matrices "outV" of a stage's values in their tiles and outside; all rows exist.
std::optional<std::string> MatrixRowWriter::store_matrices(std::span<const ValueId> values) {
    std::string stores;
    for (ValueId v : values) {
        const RowTile* tile = plan_.tile_for(v);
        const bool is_stored = is_made_[v] && is_read_outside(v);
        const DType dtype = graph_.value(v).dtype;
        if ((dtype != DType::kF16 && dtype != DType::kF32) || row_width(v) % matrix_n() != 0)
            return std::nullopt;
        const std::string name = "matrix" + text(v), out = "out" + text(v);
        stores += "const " + matrix_type(v) + " " + name + " = " +
                  (dtype == DType::kF16 ? "hearth_matrix_half(" + out + ");\n" : out + ";\n");
        if (tile != nullptr) {
            const std::string place = tile_block(*tile);
            if (place.empty() || tile->is_half() != (dtype == DType::kF16)) return std::nullopt;
            stores += "hearth_matrix_store(" + name + place + "\n";
        }
        if (is_stored) stores += store_block(v, name);
    }
    return stores;
}

// --------------------------------------------------------------------------------------- stages

/// Sums over all rows and columns are taken matrix by matrix as the stage before makes them.
std::string MatrixRowWriter::write_register_stages(size_t first, size_t last) {
    std::string out;
    for (size_t i = first; i < last;) {
        const RowStage& stage = plan_.stages[i++];
        std::string sums;
        if (stage.kind == RowStageKind::kProduct || stage.kind == RowStageKind::kMap)
            for (; i < last && plan_.stages[i].kind == RowStageKind::kRowSum &&
                   row_width(plan_.stages[i].node->inputs[0]) == row_width(stage.group->stores[0]);
                 ++i)
                sums += "{\n" + register_sum_text(plan_.stages[i]) + "}\n";
        out += "        // " + label_of(graph_, plan_, stage) + "\n" +
               write_register_stage(stage, sums);
    }
    return out;
}

std::string MatrixRowWriter::write_register_stage(const RowStage& stage,
                                                  const std::string& and_then) {
    switch (stage.kind) {
        case RowStageKind::kFill: {
            const ValueId v = plan_.tiles[static_cast<size_t>(stage.left)].value;
            return is_plain_half(v) ? load_rows(v) : write_matrices(stage, {{v}}, "");
        }
        case RowStageKind::kProduct:
            return write_register_product(stage, and_then);
        case RowStageKind::kRowSum:
            return write_register_sum(stage);
        default:
            return write_matrices(stage, stage.group->stores, "", and_then);
    }
}

/// Halves as they lie in their buffer.
std::string MatrixRowWriter::load_rows(ValueId v) {
    const std::string halfs = matrices_of(v);
    const std::string by_element = "{ hearth_matrix_sum wide; " + load_elements(v, "wide") + halfs +
                                   "[i] = hearth_matrix_half(wide); }\n";
    std::string loads = by_element;
    if (row_width(v) % matrix_n() == 0 && is_whole_tile_)
        loads = load_whole(v, halfs + "[i]");
    else if (row_width(v) % matrix_n() == 0)
        loads = "if (" + rows_left() + " >= " + text(matrix_m()) + ") " +
                load_whole(v, halfs + "[i]") + "\nelse " + by_element;
    return "        hearth_matrix_half " + halfs + "[" + text(plan_.blocks * matrix_columns(v)) +
           "];\n        {\n" + open_matrices(matrix_columns(v)) + loads +
           "            }\n        }\n";
}

std::string MatrixRowWriter::write_register_product(const RowStage& stage,
                                                    const std::string& and_then) {
    const RowWeight& w = plan_.weights[static_cast<size_t>(stage.weight)];
    const RowTile& x = plan_.tiles[static_cast<size_t>(stage.left)];
    const int columns = w.padded_outer() / matrix_n(), inner = x.padded() / matrix_k();
    const std::string name = "acc" + text(stage.node->outputs[0]), count = text(columns);
    const std::string stride = text(w.stride / 4);
    const std::string at =
        w.is_dot ? "c * " + text(matrix_n() * (w.stride / 4)) + " + k * " + text(matrix_k() / 8)
                 : "k * " + text(matrix_k() * (w.stride / 4)) + " + c * " + text(matrix_n() / 8);
    const RowVector* bias = bias_of(stage);
    std::string out = "        hearth_matrix_sum " + name + "[" + text(plan_.blocks * columns) +
                      "];\n        {\n" + open_matrices(columns) + "            " +
                      (bias == nullptr ? name + "[i] = hearth_matrix_sum(0.0);"
                                       : load_vector(*bias, name + "[i]")) +
                      "\n            }\n";
    out += left_factors(x);
    out += "            UNROLL for (int k = 0; k < " + text(inner) +
           "; ++k) UNROLL for (int c = 0; c < " + count + "; ++c) {\n";
    out += "                hearth_matrix_b b;\n                hearth_matrix_load(b, pool, " + at +
           " + " + text(w.offset / 4) + ", " + stride + ", " + (w.is_dot ? "true" : "false") +
           ");\n";
    out += "                UNROLL for (int m = 0; m < " + text(plan_.blocks) + "; ++m) " + name +
           "[m * " + count + " + c] = hearth_multiply_add(left[m * " + text(inner) + " + k], b, " +
           name + "[m * " + count + " + c]);\n            }\n        }\n";
    return out + write_matrices(stage, stage.group->stores, name, and_then);
}

/// What a product's only reader adds to each of its rows, so that sums can begin with it; or null.
const RowVector* MatrixRowWriter::bias_of(const RowStage& product) const {
    const ValueId sum = sum_with_bias(product);
    if (sum == kNone) return nullptr;
    for (const RowVector& v : plan_.vectors)
        for (ValueId in : graph_.producer(sum)->inputs)
            if (in == v.value && graph_.value(in).shape.rank() == 1 && v.count == row_width(sum))
                return &v;
    return nullptr;
}

/// The sum of a product and something else that is all that reads the product; or kNone.
ValueId MatrixRowWriter::sum_with_bias(const RowStage& product) const {
    const ValueId v = product.node->outputs[0];
    if (leaves_[v] || readers_[v].size() != 1) return kNone;
    const Node& reader = graph_.nodes[readers_[v][0]];
    const bool is_within = std::find(product.group->nodes.begin(), product.group->nodes.end(),
                                     readers_[v][0]) != product.group->nodes.end();
    return is_within && reader.op->name == "add" && reader.inputs[0] != reader.inputs[1]
               ? reader.outputs[0]
               : kNone;
}

/// The matrices of a value as left factors: the same by one extension, by the other only through
/// memory.
std::string MatrixRowWriter::left_factors(const RowTile& x) const {
    const int inner = x.padded() / matrix_k();
    const std::string halfs = "halfs" + text(x.value), all = text(plan_.blocks * inner);
    std::string out = "            hearth_matrix_a left[" + all + "];\n";
    if (plan_.own_stride == 0)
        return out + "            UNROLL for (int i = 0; i < " + all + "; ++i) left[i] = " + halfs +
               "[i];\n";
    const std::string place = "pool, subgroup * " + text(matrix_m() * (plan_.own_stride / 4)) +
                              " + " + text(plan_.own_offset / 4) + " + k * " +
                              text(matrix_k() / 8) + ", " + text(plan_.own_stride / 4) +
                              ", false);\n";
    const std::string each = "UNROLL for (int k = 0; k < " + text(inner) + "; ++k) ";
    const std::string which = "[m * " + text(inner) + " + k], ";
    return out + "            UNROLL for (int m = 0; m < " + text(plan_.blocks) +
           "; ++m) {\n                subgroupBarrier();\n                " + each +
           "hearth_matrix_store(" + halfs + which + place +
           "                subgroupBarrier();\n                " + each +
           "hearth_matrix_load(left" + which + place + "            }\n";
}

/// A sum over all rows and columns.
std::string MatrixRowWriter::write_register_sum(const RowStage& stage) {
    return "        {\n" + open_matrices(matrix_columns(stage.node->inputs[0])) +
           register_sum_text(stage) + "            }\n        }\n";
}

std::string MatrixRowWriter::register_sum_text(const RowStage& stage) {
    const ValueId v = stage.node->outputs[0], in = stage.node->inputs[0];
    const std::string name = "total" + text(v), terms = "out" + text(in);
    declarations_ += "    float " + name + "[1];\n    " + name + "[0] = 0.0;\n";
    const auto worked_out = matrix_text(stage, {{in}}, "");
    is_lost_ = is_lost_ || !worked_out;
    if (is_lost_) return {};
    store_row_sum(v, name, 1, 1, true, "");
    return *worked_out + mask_columns(terms, row_width(in)) + mask_summed(in) +
           "UNROLL for (int e = 0; e < " + terms + ".length(); ++e) " + name + "[0] += " + terms +
           "[e];\n";
}

// ------------------------------------------------------------------------------ weight gradients

std::string MatrixRowWriter::share_factors(const RowStage& gradient) {
    std::string out;
    const int tiles[] = {gradient.left, gradient.right};
    for (int side = 0; side < 2; ++side)
        out +=
            share_factor(plan_.tiles[static_cast<size_t>(tiles[side])], plan_.exchange[side] / 4);
    return out;
}

/// Puts the subgroup's rows of a factor where all can read them: from registers or, what lies in
/// memory as it is, from there.
std::string MatrixRowWriter::share_factor(const RowTile& tile, int place) {
    const int stride = tile.stride / 4, eights = tile.padded() / 8;
    const std::string own = "base * " + text(stride) + " + " + text(place);
    const ValueId v = tile.value;
    if (graph_.value(v).kind == ValueKind::kInput && is_plain_half(v) && tile.width % 8 == 0) {
        const int quads = plan_.blocks * matrix_m() * eights;
        const std::string four = "floatBitsToUint(" + by_four(v) + ".at[(start + r" + apart() +
                                 ") * " + text(tile.width / 8) + " + q])";
        const std::string value = tile.padded() == tile.width ? four
                                                              : "q < " + text(tile.width / 8) +
                                                                    " ? " + four + " : uvec4(0)";
        return "        for (int e = subgroup_lane; e < " + text(quads) +
               "; e += " + text(plan_.threads / plan_.subgroups) +
               ") {\n            const int r = e / " + text(eights) + ", q = e % " + text(eights) +
               ";\n            pool[" + own + " + r * " + text(stride) + " + q] = " + value +
               ";\n        }\n";
    }
    return "        {\n" + open_matrices(tile.padded() / matrix_n()) +
           "            hearth_matrix_store(" + matrices_of(v) + "[i], pool, " + own + " + m * " +
           text(matrix_m() * stride) + " + c * " + text(matrix_n() / 8) + ", " + text(stride) +
           ", false);\n            }\n        }\n";
}

std::string MatrixRowWriter::write_register_gradient(const RowStage& stage) {
    RowTile a = plan_.tiles[static_cast<size_t>(stage.left)];
    RowTile b = plan_.tiles[static_cast<size_t>(stage.right)];
    a.offset = plan_.exchange[0];
    b.offset = plan_.exchange[1];
    const std::string sums = "kept" + text(stage.node->outputs[0]);
    const int tasks = matrix_gradient_tasks(stage), columns = matrix_gradient_columns(stage);
    const std::string size = text(ceil_div(tasks, plan_.subgroups));
    declarations_ += "    hearth_matrix_sum " + sums + "[" + size +
                     "];\n    UNROLL for (int i = 0; i < " + size + "; ++i) " + sums +
                     "[i] = hearth_matrix_sum(0.0);\n";
    const std::string own = "            const int own = subgroup;\n";
    sums_ += "    barrier();\n    {\n" + own + open_matrix_tasks(tasks, columns, "nm", true) +
             store_matrix_gradient(stage, sums) + close_tasks() + "    }\n";
    return "        {  // " + label_of(graph_, plan_, stage) + "\n" + own +
           sum_gradient(a, b, sums, tasks, columns) + "        }\n";
}

/// Two columns each thread, of some of the rows.
std::string MatrixRowWriter::write_register_column_sum(const RowStage& gradient,
                                                       const RowStage& stage) {
    const ValueId v = stage.node->outputs[0];
    const bool is_left =
        plan_.tiles[static_cast<size_t>(gradient.left)].value == stage.node->inputs[0];
    const RowTile& tile =
        plan_.tiles[static_cast<size_t>(is_left ? gradient.left : gradient.right)];
    const int offset = plan_.exchange[is_left ? 0 : 1];
    const int words = ceil_div(tile.width, 2);
    int slices = 1;
    while (2 * slices * words <= plan_.threads && 2 * slices <= plan_.tile_rows) slices *= 2;
    const std::string name = "total" + text(v), width = text(tile.width);
    declarations_ += "    vec2 " + name + " = vec2(0);\n";
    const std::string mine =
        "const int word = tid % " + text(words) + ", slice = tid / " + text(words) + ";\n";
    note_store(v);
    // A word's sums of one slice lie side by side.
    sums_ += "    barrier();\n    {\n        " + mine + "        if (slice < " + text(slices) +
             ") { PUT_SHARED(2 * tid, " + name + ".x); PUT_SHARED(2 * tid + 1, " + name +
             ".y); }\n        barrier();\n        for (int n = tid; n < " + width +
             "; n += " + text(plan_.threads) +
             ") {\n            float sum = 0.0;\n            for (int s = 0; s < " + text(slices) +
             "; ++s) sum += SHARED(s * " + text(2 * words) + " + n);\n            " +
             kernel_.buffers.name_of(v) + ".at[group * " + width +
             " + n] = sum;\n        }\n    }\n";
    return "        {\n            " + mine + "            if (slice < " + text(slices) +
           ") UNROLL for (int r = 0; r < " + text(plan_.tile_rows / slices) + "; ++r) " + name +
           " += unpackHalf2x16(pool[(r * " + text(slices) + " + slice) * " + text(tile.stride / 4) +
           " + " + text(offset / 4) + " + word / 4][word % 4]);\n        }\n";
}

}  // namespace hearth
