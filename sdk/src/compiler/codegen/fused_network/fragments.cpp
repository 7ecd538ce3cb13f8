// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/fused_network/fragments.hpp"

#include "compiler/ir/scalar_operands.hpp"

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

bool is_filled_in(const NetworkPlan& plan, ValueId v) {
    return std::any_of(plan.stages.begin(), plan.stages.end(), [&](const NetworkStage& s) {
        return s.kind == NetworkStageKind::kFill &&
               plan.tiles[static_cast<size_t>(s.left)].value == v;
    });
}

Expr to_integer(Expr number, ScalarType type) {
    return number.body->add({.kind = ExprKind::kFitting,
                             .type = type,
                             .op = type == ScalarType::kI32 ? ScalarOp::kToI32 : ScalarOp::kToU32,
                             .in = {number.id, 0, 0}});
}

Expr to_float(Expr number) {
    return number.type() == ScalarType::kF32 ? number
                                             : number.body->operation(ScalarOp::kToF32, number);
}

}  // namespace

Chunk fragment_of(const Graph& graph, ValueId v) {
    return graph.value(v).dtype == DType::kF16 ? Chunk::kHalfSums : Chunk::kSums;
}

int fragment_columns(const NetworkFrame& frame, ValueId v) {
    return ceil_div(frame.row_width(v), static_cast<int>(frame.body->matrix.n));
}

Expr each_element(KernelWriter& to, Expr fragment) {
    return to.unrolled_for_("e", [&](Expr e) { return e < fragment.body->length(fragment); });
}

// ------------------------------------------------------------------------------------- memory

Expr FragmentMemory::first_row() const {
    return frame_.slides() ? frame_.blocks.start : frame_.first + place_.base + place_.m * lines();
}

Expr FragmentMemory::rows_left() const {
    return frame_.count - place_.base - place_.m * lines();
}

Expr FragmentMemory::positions(const char* name, bool is_down) {
    const Expr numbers = to_.declare_chunk(name, Chunk::kSums);
    to_.load_fragment(numbers, {frame_.pool, body_.index(frame_.plan.positions_offset / 4),
                                body_.index(0), is_down});
    return numbers;
}

Expr FragmentMemory::position(Expr positions, Expr e) const {
    return to_integer(body_.chunk_element(positions, e), ScalarType::kI32);
}

Expr FragmentMemory::load(ValueId v, const std::string& name) {
    const Expr sums = to_.declare_chunk(name, Chunk::kSums);
    if (!is_whole_line(v)) {
        load_elements(v, sums);
        return sums;
    }
    const bool may_exceed = !frame_.is_whole_tile;
    if (may_exceed)
        to_.if_(rows_left() >= body_.index(lines()));
    else
        to_.block();
    if (fragment_of(frame_.graph, v) == Chunk::kHalfSums) {
        const Expr halves = to_.declare_chunk("halfs", Chunk::kHalfSums);
        load_whole(v, halves);
        to_.assign(sums, body_.convert(Chunk::kSums, halves));
    } else {
        load_whole(v, sums);
    }
    to_.end();
    if (may_exceed) {
        to_.else_();
        load_elements(v, sums);
        to_.end();
    }
    return sums;
}

void FragmentMemory::load_halves(ValueId v, Expr fragment) {
    const auto by_element = [&] {
        const Expr wide = to_.declare_chunk("wide", Chunk::kSums);
        load_elements(v, wide);
        to_.assign(fragment, body_.convert(Chunk::kHalfSums, wide));
    };
    if (!is_whole_line(v)) return by_element();
    if (frame_.is_whole_tile) return load_whole(v, fragment);
    to_.if_(rows_left() >= body_.index(lines()));
    load_whole(v, fragment);
    to_.end();
    to_.else_();
    by_element();
    to_.end();
}

void FragmentMemory::load_whole(ValueId v, Expr fragment) {
    const int width = frame_.row_width(v);
    const auto load = [&](int stride) {
        to_.load_fragment(
            fragment, {body_.buffer(frame_.buffer(v)), first_row() * width + place_.c * columns(),
                       body_.index(stride)});
    };
    if (!frame_.slides()) return load(width);
    to_.if_(frame_.blocks.is_few);
    load(0);
    to_.end();
    to_.else_();
    load(width);
    to_.end();
}

void FragmentMemory::load_elements(ValueId v, Expr sums) {
    const int width = frame_.row_width(v);
    to_.block();
    const Expr down = positions("down", true), across = positions("across", false);
    const Expr e = each_element(to_, sums);
    Expr line = position(down, e);
    if (frame_.slides()) line = line * frame_.blocks.apart;
    const Expr row = lesser(first_row() + line, frame_.last_row);
    const Expr column = lesser(place_.c * columns() + position(across, e), body_.index(width - 1));
    to_.assign(body_.chunk_element(sums, e), body_.load(frame_.buffer(v), row * width + column));
    to_.end();
    to_.end();
}

std::optional<KernelWriter::MatrixPlace> FragmentMemory::in_tile(const RowTile& tile) const {
    if (tile.stride % 4 != 0 || tile.offset % 4 != 0) return std::nullopt;
    const int quads = columns() / (tile.is_half() ? 8 : 4);
    return KernelWriter::MatrixPlace{
        frame_.pool, place_.m * (lines() * tile.stride / 4) + place_.c * quads + tile.offset / 4,
        body_.index(tile.stride / 4)};
}

void FragmentMemory::load_vector(const RowVector& vector, Expr sums) {
    to_.load_fragment(sums,
                      {frame_.pool, body_.index(vector.offset / 4) + place_.c * (columns() / 4),
                       body_.index(0), false, true});
}

void FragmentMemory::mask_columns(Expr sums, int width) {
    if (width % columns() == 0) return;
    to_.if_(place_.c == width / columns());
    const Expr across = positions("across", false);
    const Expr e = each_element(to_, sums);
    to_.if_(body_.chunk_element(across, e) >= body_.constant(width % columns(), ScalarType::kF32));
    to_.assign(body_.chunk_element(sums, e), frame_.zero());
    to_.end();
    to_.end();
    to_.end();
}

void FragmentMemory::mask_rows(Expr sums) {
    if (!frame_.slides()) return;
    to_.block();
    const Expr down = positions("down", true);
    const Expr e = each_element(to_, sums);
    const Expr line = body_.chunk_element(down, e), own = body_.chunk_element(sums, e);
    const Expr counts =
        logical_and(line >= to_float(frame_.blocks.skip), line < to_float(frame_.blocks.stop));
    to_.assign(own, select(counts, own, frame_.zero()));
    to_.end();
    to_.end();
}

void FragmentMemory::store(ValueId v, Expr fragment) {
    if (!frame_.is_made[v] || !frame_.is_read_outside(v)) return;
    frame_.is_lost |= !is_floating(frame_.graph.value(v).dtype);
    frame_.note_store(v);
    if (!is_whole_line(v) || frame_.slides()) return store_elements(v, fragment);
    const int width = frame_.row_width(v);
    const KernelWriter::MatrixPlace whole{body_.buffer(frame_.buffer(v)),
                                          first_row() * width + place_.c * columns(),
                                          body_.index(width)};
    if (frame_.is_whole_tile) return to_.store_fragment(fragment, whole);
    to_.if_(rows_left() >= body_.index(lines()));
    to_.store_fragment(fragment, whole);
    to_.end();
    to_.else_();
    store_elements(v, fragment);
    to_.end();
}

void FragmentMemory::store_elements(ValueId v, Expr fragment) {
    const int width = frame_.row_width(v);
    to_.block();
    const Expr down = positions("down", true), across = positions("across", false);
    const Expr wide =
        to_.let("wide", fragment.chunk() == Chunk::kSums ? fragment
                                                         : body_.convert(Chunk::kSums, fragment));
    const Expr e = each_element(to_, wide);
    const Expr r = to_.let("r", position(down, e));
    const Expr n = to_.let("n", place_.c * columns() + position(across, e));
    const Expr is_mine = frame_.slides()
                             ? logical_and(r >= frame_.blocks.skip, r < frame_.blocks.stop)
                             : r < rows_left();
    to_.if_(logical_and(is_mine, n < width));
    const Expr row = first_row() + (frame_.slides() ? r * frame_.blocks.apart : r);
    to_.store(frame_.buffer(v), row * width + n, body_.chunk_element(wide, e));
    to_.end();
    to_.end();
    to_.end();
}

// -------------------------------------------------------------------------------- expressions

/// An element of a value beside the one that is being worked out, in the same place of its fragment.
std::optional<Scalar> FragmentScope::resident(uint32_t level, ValueId v, const ScalarPlace& at) {
    if (const std::optional<Scalar> known = number(v)) return known;
    const Value& value = frame_.graph.value(v);
    const Shape& shape = value.shape;
    const int rank = shape.rank();
    if (shape.element_count() == Dim(1)) return std::nullopt;
    if (const auto known = near_.find(v); known != near_.end()) return known->second;
    const bool is_flag = frame_.plan.in_registers && value.dtype == DType::kBool;
    const bool is_column =
        (is_floating(value.dtype) || is_flag) && at.coords && rank > 0 &&
        at.coords->rank() == rank &&
        ((*at.coords)[rank - 1].id == inner_->id || (is_one_wide_ && shape[rank - 1].is_one()));
    Expr sums;
    if (is_column && rank == 2 && shape[0] == frame_.region.rows && (*at.coords)[0].id == row.id)
        sums = near(level, v);
    else if (is_column && shape.element_count() == shape[rank - 1])
        for (const RowVector& vector : frame_.plan.vectors)
            if (vector.value == v) {
                sums = writer.declare_chunk(numbered("near", v), Chunk::kSums);
                memory_.load_vector(vector, sums);
            }
    if (!sums) {
        needs_places_ = true;
        return std::nullopt;
    }
    const Scalar variable = arena.symbol(scalar_type(value.dtype));
    near_.emplace(v, variable);
    read_.emplace_back(variable, sums);
    return variable;
}

/// Declares a value's sums "near12", where the stage that is being written has it; or none.
Expr FragmentScope::near(uint32_t level, ValueId v) {
    const Value& value = frame_.graph.value(v);
    Body& body = *frame_.body;
    const std::string name = numbered("near", v);
    if (frame_.plan.in_registers && (frame_.is_made[v] || is_filled_in(frame_.plan, v))) {
        const auto kept = frame_.blocks.fragments.find(v);
        if (kept == frame_.blocks.fragments.end()) return {};
        const Expr fragment = body.element(kept->second, place_.index);
        return writer.declare_chunk(
            name, Chunk::kSums,
            fragment.chunk() == Chunk::kSums ? fragment : body.convert(Chunk::kSums, fragment));
    }
    if (const RowTile* tile = frame_.plan.tile_of(v, level);
        tile != nullptr && !frame_.plan.in_registers) {
        const auto place = memory_.in_tile(*tile);
        if (!place) return {};
        if (!tile->is_half()) {
            const Expr sums = writer.declare_chunk(name, Chunk::kSums);
            writer.load_fragment(sums, *place);
            return sums;
        }
        const Expr half = writer.declare_chunk(numbered("half", v), Chunk::kHalfSums);
        writer.load_fragment(half, *place);
        return writer.declare_chunk(name, Chunk::kSums, body.convert(Chunk::kSums, half));
    }
    if (value.kind == ValueKind::kNode && frame_.region.has(value.node)) return {};
    if (!frame_.is_plain(v) && !frame_.is_plain_half(v)) return {};
    const bool has_edge = frame_.row_width(v) % static_cast<int>(body.matrix.n) != 0;
    return frame_.is_whole_tile && has_edge && !frame_.plan.in_registers ? Expr{}
                                                                         : memory_.load(v, name);
}

std::optional<std::vector<Expr>> FragmentScope::work_out(std::span<const ValueId> values,
                                                         Expr sums) {
    const Graph& graph = frame_.graph;
    inner_ = arena.symbol(ScalarType::kI32);
    is_one_wide_ = frame_.row_width(values[0]) == 1;
    std::optional<Scalar> sum_element;
    if (sums) {
        sum_element = arena.symbol(ScalarType::kF32);
        const bool has_bias = frame_.plan.in_registers && bias_of(frame_, stage_) != nullptr;
        expressions.define(has_bias ? sum_with_bias(frame_, stage_) : stage_.node->outputs[0],
                           *sum_element);
    }
    std::vector<Scalar> elements;
    const Scalar places[] = {row, local, *inner_};
    for (const ValueId v : values) {
        if (graph.value(v).shape.rank() != 2) return std::nullopt;
        Scalar element = expressions.read(v, place(graph.value(v).shape, *inner_));
        const ScalarNode node = arena.node(element.id);
        // The fragment rounds.
        if (graph.value(v).dtype == DType::kF16 && node.op == ScalarOp::kRoundF16)
            element = {&arena, node.a};
        if (needs_places_ || depends_on(arena, element, places)) return std::nullopt;
        elements.push_back(element);
    }
    if (sums) read_.emplace_back(*sum_element, writer.let("sum", sums));
    std::vector<Expr> outs, contents;
    for (const ValueId v : values)
        outs.push_back(writer.declare_chunk(numbered("out", v), Chunk::kSums));
    const Expr e = each_element(writer, outs[0]);
    for (const auto& [variable, fragment] : read_) {
        const Expr element = frame_.body->chunk_element(fragment, e);
        writer.bind(variable, variable.type() == ScalarType::kF32
                                  ? element
                                  : to_integer(element, variable.type()));
    }
    for (const Scalar element : elements) contents.push_back(writer.emit(element));
    for (size_t i = 0; i < values.size(); ++i)
        writer.assign(frame_.body->chunk_element(outs[i], e), to_float(contents[i]));
    writer.end();
    note_vanishing(values, elements, sum_element);
    return outs;
}

/// Notes which of the values are zero in rows that sums leave out because others are.
void FragmentScope::note_vanishing(std::span<const ValueId> values,
                                   std::span<const Scalar> elements, std::optional<Scalar> sum) {
    std::set<ValueId>& vanishing = frame_.blocks.vanishing;
    std::vector<Scalar> zeros;
    for (const auto& [v, element] : near_)
        if (vanishing.contains(v)) zeros.push_back(element);
    if (sum && bias_of(frame_, stage_) == nullptr &&
        vanishing.contains(frame_.plan.tiles[static_cast<size_t>(stage_.left)].value))
        zeros.push_back(*sum);
    for (size_t i = 0; i < values.size(); ++i)
        if (vanishes(elements[i].id, zeros)) vanishing.insert(values[i]);
}

/// Whether an expression is zero wherever `zeros` are, other numbers being finite.
bool FragmentScope::vanishes(uint32_t id, std::span<const Scalar> zeros) const {
    const ScalarNode& node = arena.node(id);
    const auto of = [&](uint32_t operand) { return vanishes(operand, zeros); };
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

bool is_summed_over_rows(const NetworkPlan& plan, ValueId v) {
    const auto made = [&](int tile) {
        const ValueId value = plan.tiles[static_cast<size_t>(tile)].value;
        const auto makes = [&](const NetworkStage& s) {
            return s.group != nullptr && std::find(s.group->stores.begin(), s.group->stores.end(),
                                                   value) != s.group->stores.end();
        };
        return std::find_if(plan.stages.begin(), plan.stages.end(), makes) - plan.stages.begin();
    };
    const auto is_outside = [&](std::ptrdiff_t stage) {
        return stage == static_cast<std::ptrdiff_t>(plan.stages.size());
    };
    return std::any_of(plan.stages.begin(), plan.stages.end(), [&](const NetworkStage& s) {
        if (s.kind == NetworkStageKind::kRowSum) return s.node->inputs[0] == v;
        if (s.kind != NetworkStageKind::kGradient) return false;
        const std::ptrdiff_t left = made(s.left), right = made(s.right);
        const bool is_left = is_outside(right) || (!is_outside(left) && left > right);
        return plan.tiles[static_cast<size_t>(is_left ? s.left : s.right)].value == v;
    });
}

ValueId sum_with_bias(const NetworkFrame& frame, const NetworkStage& product) {
    const ValueId v = product.node->outputs[0];
    if (frame.leaves[v] || frame.readers[v].size() != 1) return kInvalidId;
    const NodeId reader = frame.readers[v][0];
    const Node& node = frame.graph.nodes[reader];
    const std::vector<NodeId>& within = product.group->nodes;
    return std::find(within.begin(), within.end(), reader) != within.end() &&
                   node.op->name == "add" && node.inputs[0] != node.inputs[1]
               ? node.outputs[0]
               : kInvalidId;
}

const RowVector* bias_of(const NetworkFrame& frame, const NetworkStage& product) {
    const ValueId sum = sum_with_bias(frame, product);
    if (sum == kInvalidId) return nullptr;
    for (const RowVector& v : frame.plan.vectors)
        for (const ValueId in : frame.graph.producer(sum)->inputs)
            if (in == v.value && frame.graph.value(in).shape.rank() == 1 &&
                v.count == frame.row_width(sum))
                return &v;
    return nullptr;
}

}  // namespace hearth
