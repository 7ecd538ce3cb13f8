// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/matmul/matmul_body.hpp"

#include "compiler/codegen/shared/extents.hpp"
#include "compiler/codegen/shared/group_access.hpp"
#include "compiler/codegen/shared/index_analysis.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <array>

namespace hearth {

namespace {

bool is_named(Expr e) {
    const ExprKind kind = e.node().kind;
    return kind == ExprKind::kLocal || kind == ExprKind::kConstant;
}

}  // namespace

MatmulExtents::MatmulExtents(const Graph& graph, const Node& product) {
    const Shape& out = graph.values[product.outputs[0]].shape;
    for (int i = 0; i + 2 < out.rank(); ++i) batch.push_back(out[i]);
    m = out[out.rank() - 2];
    n = out[out.rank() - 1];
    const Shape& a = graph.values[product.inputs[0]].shape;
    k = a[a.rank() - (product.attrs.flag("transpose_a") ? 2 : 1)];
}

MatmulBody::MatmulBody(const KernelTask& task)
    : OperatorKernel(task), task_(task), extents_(graph_, node_) {
    const auto symbol = [&] { return arena_.symbol(ScalarType::kI32); };
    batch_index_ = symbol();
    for (Symbols& s : operands_) s = {symbol(), symbol()};
    m_ = symbol();
    n_ = symbol();
    sum_ = arena_.symbol(number_type());
    for (size_t input = 0; input < 2; ++input) views_[input] = memory_view(input);
}

// ------------------------------------------------------------------------------- the problem

MatmulProblem MatmulBody::problem() const {
    const auto rows = static_cast<int64_t>(options_.rows_capacity);
    MatmulProblem p;
    p.m = extents_.m.resolve(rows);
    p.n = extents_.n.resolve(rows);
    p.k = extents_.k.resolve(rows);
    p.batch = extents_.batch.element_count(rows);
    p.a_k_is_contiguous = is_k_contiguous(0);
    p.b_k_is_contiguous = is_k_contiguous(1);
    if (!node_.attrs.has("parts")) {
        p.a_form = form_of(0);
        p.b_form = form_of(1);
    }
    p.fits_grid = static_cast<uint64_t>(std::max(p.m, p.batch)) <= kMostGroupsDeep;
    p.is_integer = !is_floating(dtype_of(0));
    p.can_load_vec4 =
        !p.is_integer && loads_by_fours(0) && loads_by_fours(1) && p.n > 16 && p.m > 16;
    p.can_dot_halves = p.can_load_vec4 && options_.caps.mixed_float_dot_product &&
                       form_of(0) == "f16" && form_of(1) == "f16" && loads_by_eights(0) &&
                       loads_by_eights(1);
    const MatrixShape& shape = options_.caps.cooperative_matrix_shape;
    // A product with fewer rows or columns than a matrix would mostly multiply zeros.
    p.can_use_matrices = p.fits_grid &&
                         options_.caps.cooperative_matrix != CooperativeMatrixExt::kNone &&
                         dtype_of(0) == DType::kF16 && dtype_of(1) == DType::kF16 &&
                         p.m >= shape.m && p.n >= shape.n && p.k >= shape.k;
    return p;
}

/// MatmulProblem::a_form.
std::string MatmulBody::form_of(size_t input) const {
    if (!views_[input] || views_[input]->unpacked != nullptr) return "";
    const DType in_memory = views_[input]->dtype, read = dtype_of(input);
    if (in_memory == read && (read == DType::kF32 || read == DType::kF16))
        return read == DType::kF32 ? "f32" : "f16";
    return in_memory == DType::kF32 && read == DType::kF16 ? std::string(kCastForm) : "";
}

DType MatmulBody::held(DType dtype) const {
    return device_dtype(dtype, options_.caps.narrow_storage());
}

bool MatmulBody::is_swapped(size_t input) const {
    const bool swapped = node_.attrs.flag(input == 0 ? "transpose_a" : "transpose_b");
    return swapped != (views_[input] && views_[input]->is_swapped);
}

/// Returns the operand's layout in memory; none if its elements are computed, or its last axis in memory is neither of
/// the product's two.
std::optional<MemoryView> MatmulBody::memory_view(size_t input) const {
    ValueId v = node_.inputs[input];
    MemoryView view;
    int casts = 0;
    auto step = [&](std::string_view name) -> const Node* {
        const Node* producer = graph_.producer(v);
        const bool is_view =
            producer != nullptr && expressions_.is_computed_here(v) && producer->op->name == name;
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

bool MatmulBody::loads_vectors(size_t input, int64_t each) const {
    return views_[input] && !views_[input]->contiguous.is_batch &&
           views_[input]->contiguous.count % each == 0 && keeps_vectors(each);
}

/// True if the parts of a product in parts begin at multiples of `each`.
bool MatmulBody::keeps_vectors(int64_t each) const {
    return !node_.attrs.has("parts") || node_.attrs.integer("granule") % each == 0;
}

uint32_t MatmulBody::packed_bits(size_t input) const {
    const bool is_packed = views_[input] && views_[input]->unpacked != nullptr;
    return is_packed ? static_cast<uint32_t>(views_[input]->unpacked->attrs.integer("bits")) : 0;
}

bool MatmulBody::is_packed_in_blocks_of(size_t input, int64_t each) const {
    return views_[input]->unpacked->attrs.integer("block") % each == 0;
}

/// True if four elements are 16 bytes of f32, 8 of f16, or packed in one word.
bool MatmulBody::loads_by_fours(size_t input) const {
    if (!loads_vectors(input, 4)) return false;
    if (views_[input]->unpacked != nullptr) return is_packed_in_blocks_of(input, 4);
    const DType in_memory = views_[input]->dtype;
    return in_memory == DType::kF32 ? !views_[input]->is_cast || rounds_to_half(input)
                                    : in_memory == DType::kF16;
}

/// True if eight elements are 16 bytes of f16, 32 of f32 that a cast rounds, or packed in one block.
bool MatmulBody::loads_by_eights(size_t input) const {
    if (!loads_vectors(input, 8)) return false;
    if (views_[input]->unpacked != nullptr) return is_packed_in_blocks_of(input, 8);
    return views_[input]->dtype == (views_[input]->is_cast ? DType::kF32 : DType::kF16);
}

bool MatmulBody::rounds_to_half(size_t input) const {
    return views_[input]->is_cast && views_[input]->dtype == DType::kF32 &&
           dtype_of(input) == DType::kF16;
}

// ------------------------------------------------------------------------------- numbers

ScalarType MatmulBody::number_type() const {
    return scalar_type(graph_.values[node_.outputs[0]].dtype);
}

Expr MatmulBody::variable(std::string name, Expr first) {
    return first.chunk() == Chunk::kOne ? w_.declare(std::move(name), first.type(), first)
                                        : w_.declare_chunk(std::move(name), first.chunk(), first);
}

void MatmulBody::add_product(Expr sum, Expr a, Expr b) {
    if (sum.type() == ScalarType::kF32)
        w_.assign(sum, body_->multiply_add(a, b, sum));
    else
        w_.accumulate(sum, a * b);
}

void MatmulBody::end(int scopes) {
    for (int i = 0; i < scopes; ++i) w_.end();
}

std::pair<Expr, Expr> MatmulBody::for_each(int64_t rows, int64_t columns) {
    const Expr i = w_.unrolled_for_("i", rows);
    return {i, w_.unrolled_for_("j", columns)};
}

Expr MatmulBody::share_out(std::string name, int64_t count) {
    return w_.for_(
        std::move(name), thread_, [&](Expr at) { return at < count; }, index(body_->threads));
}

Expr MatmulBody::all_of(std::initializer_list<Expr> conditions) {
    Expr all;
    for (const Expr condition : conditions)
        if (condition) all = all ? logical_and(all, condition) : condition;
    return all;
}

// ------------------------------------------------------------------------------- the workgroup

/// Workgroups for `count` items, so many each, or more where the grid may have no more of them.
GridAxis MatmulBody::tiles_axis(Dim count, int each) const {
    const auto per_group = static_cast<uint32_t>(each);
    return {work_of(count),
            per_group * items_each(count, options_.rows_capacity, kMostGroupsDeep * per_group)};
}

bool MatmulBody::takes_tiles_in_turn() const {
    return tiles_axis(extents_.m, tile_.bm).tile != static_cast<uint32_t>(tile_.bm) ||
           tiles_axis(extents_.batch.element_count(), 1).tile != 1;
}

void MatmulBody::declare_workgroup() {
    body_->threads = static_cast<uint32_t>(threads_of(tile_, options_.caps));
    kernel_.name = "matmul";
    kernel_.grid[0] = {work_of(extents_.n), static_cast<uint32_t>(tile_.bn)};
    kernel_.grid[1] = tiles_axis(extents_.m, tile_.bm);
    kernel_.grid[2] = tiles_axis(extents_.batch.element_count(), 1);
    const auto groups = [&](Dim count, const GridAxis& axis) {
        const Expr items = count_of(count, *body_) + (int64_t{axis.tile} - 1);
        return (items / int64_t{axis.tile}).id;
    };
    body_->across = groups(extents_.n, kernel_.grid[0]);
    body_->down = groups(extents_.m, kernel_.grid[1]);
    thread_ = w_.let("thread", body_->invocation());
    const auto count = [&](const char* name, Dim extent) {
        const Expr number = count_of(extent, *body_);
        return extent.is_batch ? w_.let(name, number) : number;
    };
    m_count_ = count("m_count", extents_.m);
    n_count_ = count("n_count", extents_.n);
}

void MatmulBody::open_tile() {
    const Expr first_n = w_.let("first_n", body_->workgroup(0) * tile_.bn);
    const Expr first_m = w_.let("first_m", body_->workgroup(1) * tile_.bm);
    takes_turns_ = takes_tiles_in_turn();
    if (!takes_turns_) return open_tile(first_m, first_n);
    // More tiles than a grid may have: each workgroup takes several.
    const Expr batches = count_of(extents_.batch.element_count(), *body_);
    batch_ = w_.for_(
        "batch", body_->workgroup(2), [&](Expr at) { return at < batches; }, body_->workgroups(2));
    const Expr m = w_.for_(
        "tile_m", first_m, [&](Expr at) { return at < m_count_; }, body_->workgroups(1) * tile_.bm);
    open_scopes_ = 2;
    open_tile(m, first_n);
}

/// Recordings are sized for the capacity: tiles beyond the live rows have no work.
void MatmulBody::open_tile(Expr first_m, Expr first_n) {
    if (!batch_) batch_ = w_.let("batch", body_->workgroup(2));
    first_m_ = first_m;
    first_n_ = first_n;
    const Expr is_live = all_of({extents_.m.is_batch ? first_m < m_count_ : Expr(),
                                 extents_.n.is_batch ? first_n < n_count_ : Expr()});
    if (is_live)
        w_.if_(is_live);
    else
        w_.block();
    ++open_scopes_;
    w_.bind(batch_index_, batch_);
    set_inner_range();
}

void MatmulBody::set_inner_range() {
    const Expr k = count_of(extents_.k, *body_);
    k_first_ = index(0);
    k_end_ = extents_.k.is_batch ? w_.let("k_count", k) : k;
    if (!node_.attrs.has("parts")) return;
    const int64_t parts = node_.attrs.integer("parts"), granule = node_.attrs.integer("granule");
    const Expr even = w_.let("even_part", (k_end_ + (parts - 1)) / parts);
    const Expr length = w_.let("part_length", (even + (granule - 1)) / granule * granule);
    k_first_ = w_.let("k_first", batch_ * length);
    k_end_ = w_.let("k_end", lesser(k_end_, k_first_ + length));
}

bool MatmulBody::is_k_whole() const {
    return !node_.attrs.has("parts") && is_whole(extents_.k, tile_.bk * tile_.stages);
}

KernelDraft MatmulBody::finish() {
    if (takes_turns_) {
        w_.end();
        w_.barrier();
        --open_scopes_;
    }
    end(open_scopes_);
    body_->statements = w_.take();
    const MatmulProblem p = problem();
    set_body(kernel_, body_);
    kernel_.is_elementwise = elementwise_buffers(arena_, operand_values(*body_), result_);
    const int64_t products = node_.attrs.has("parts") ? 1 : p.batch;
    kernel_.flops = static_cast<uint64_t>(2 * p.m * p.n * p.k * products);
    return std::move(kernel_);
}

// ------------------------------------------------------------------------------- operands

Expr MatmulBody::named(const char* name, Expr value) {
    return is_named(value) ? value : w_.let(name, value);
}

Scalar MatmulBody::open_element(size_t input, Expr i, Expr j) {
    w_.block();
    w_.bind(operands_[input].i, named(input == 0 ? "m" : "k", i));
    w_.bind(operands_[input].j, named(input == 0 ? "k" : "n", j));
    return expressions_.read(node_.inputs[input],
                             operand_place(input, operands_[input].i, operands_[input].j));
}

ScalarPlace MatmulBody::operand_place(size_t input, Scalar i, Scalar j) {
    const Shape& shape = graph_.values[node_.inputs[input]].shape;
    const Coords<Scalar> batch_at = coords_of(arena_, {batch_index_, {}}, extents_.batch);
    Coords<Scalar> at;
    for (int axis = 0; axis + 2 < shape.rank(); ++axis) {
        const int from = axis + extents_.batch.rank() - (shape.rank() - 2);
        at.axis.push_back(shape[axis].is_one() ? arena_.index(0) : batch_at[from]);
    }
    const bool transposed = node_.attrs.flag(input == 0 ? "transpose_a" : "transpose_b");
    at.axis.push_back(transposed ? j : i);
    at.axis.push_back(transposed ? i : j);
    return {{}, at};
}

Expr MatmulBody::read_where(Expr inside, Expr none, const std::function<void(Expr to)>& read) {
    const Expr to = variable("element", none);
    if (inside) w_.if_(inside);
    read(to);
    if (inside) w_.end();
    return to;
}

void MatmulBody::read(size_t input, Expr i, Expr j, Expr to) {
    const Expr element = w_.emit(open_element(input, i, j));
    HEARTH_ASSERT(element.type() == to.type());
    w_.assign(to, element);
    w_.end();
}

/// The load that the element is, behind casts.
ScalarNode MatmulBody::load_of(Scalar element) const {
    while (arena_.node(element.id).op != ScalarOp::kLoad)
        element = Scalar{&arena_, arena_.node(element.id).a};
    return arena_.node(element.id);
}

/// The load of this value in an expression.
const ScalarNode* MatmulBody::find_load(Scalar in, ValueId value) const {
    const ScalarNode& node = arena_.node(in.id);
    if (node.op == ScalarOp::kLoad) return node.bits == value ? &node : nullptr;
    for (uint32_t operand : {node.a, node.b, node.c})
        if (operand < in.id)  // operands come before; what is no operand is 0
            if (const ScalarNode* found = find_load(Scalar{in.arena, operand}, value)) return found;
    return nullptr;
}

MatmulBody::PackedPlace MatmulBody::packed_place(Scalar element, const Node& unpacked) {
    const ScalarNode* load = find_load(element, unpacked.inputs[0]);
    HEARTH_ASSERT(load != nullptr);
    const ScalarNode& index = arena_.node(load->a);
    PackedPlace place{w_.emit(Scalar{&arena_, load->a}), {}};
    if (unpacked.attrs.integer("bits") != 4) return place;
    // The word's index is the element's over eight.
    HEARTH_ASSERT(index.op == ScalarOp::kDiv);
    place.four = w_.let("four", w_.emit(Scalar{&arena_, index.a}) / 4 % 2);
    return place;
}

/// The scale of an unpacked element, the other factor of which is made of words.
Expr MatmulBody::scale_of(Scalar element, const Node& unpacked) {
    if (const ScalarNode* load = find_load(element, unpacked.inputs[1])) {
        const Expr at = w_.emit(Scalar{&arena_, load->a});
        return w_.let("scale", body_->load(operand_(unpacked.inputs[1]), at));
    }
    while (arena_.node(element.id).op != ScalarOp::kMul)
        element = Scalar{&arena_, arena_.node(element.id).a};
    const ScalarNode product = arena_.node(element.id);
    const Scalar first{&arena_, product.a}, second{&arena_, product.b};
    return w_.emit(find_load(first, unpacked.inputs[0]) != nullptr ? second : first);
}

void MatmulBody::read_fours(size_t input, Expr i, Expr j, std::span<const Expr> to) {
    const Scalar element = open_element(input, i, j);
    if (const Node* packed = views_[input]->unpacked) {
        const PackedPlace place = packed_place(element, *packed);
        const Expr scale = scale_of(element, *packed);
        const uint32_t words = operand_(packed->inputs[0]);
        for (size_t p = 0; p < to.size(); ++p) {
            const auto next = static_cast<int64_t>(p);
            // Of 8 bits each four is a word; of 4 bits it is half of one.
            const Expr word = body_->load(words, place.four ? place.word : place.word + next);
            const Expr which = to.size() == 1 ? place.four : index(next);
            w_.assign(to[p], unpacked(packed_bits(input), word, which, scale));
        }
    } else {
        const ScalarNode load = load_of(element);
        const uint32_t buffer = operand_(static_cast<ValueId>(load.bits));
        const Expr at = w_.emit(Scalar{&arena_, load.a});
        // Halves are rounded on their way to matrices.
        const bool is_rounded = rounds_to_half(input) &&
                                held(views_[input]->dtype) != DType::kF16 &&
                                !is_on_matrices(tile_.family);
        for (size_t p = 0; p < to.size(); ++p) {
            const Expr four =
                body_->load_chunk(Chunk::kFour, buffer, at + 4 * static_cast<int64_t>(p));
            w_.assign(to[p], is_rounded ? body_->operation(ScalarOp::kRoundF16, four) : four);
        }
    }
    w_.end();
}

void MatmulBody::gather_fours(size_t input, Expr i, Expr j, bool along_k,
                              std::span<const Expr> to) {
    for (size_t p = 0; p < to.size(); ++p) {
        const Expr lane = w_.unrolled_for_("lane", 4);
        const bool is_second = along_k == (input == 0);
        const Expr at = w_.let("at", (is_second ? j : i) + 4 * static_cast<int64_t>(p) + lane);
        const Expr inside = along_k      ? is_inside_k(at)
                            : input == 0 ? is_inside_m(at)
                                         : is_inside_n(at);
        const Expr element = read_where(inside, zero(), [&](Expr into) {
            read(input, is_second ? i : at, is_second ? at : j, into);
        });
        w_.assign(body_->chunk_element(to[p], lane), element);
        w_.end();
    }
}

void MatmulBody::read_words(size_t input, Expr i, Expr j, Expr to) {
    const Scalar element = open_element(input, i, j);
    if (const Node* packed = views_[input]->unpacked) {
        const Expr word = packed_place(element, *packed).word;
        w_.assign(to, body_->load_chunk(Chunk::kFour, operand_(packed->inputs[0]), word));
    } else {
        const ScalarNode load = load_of(element);
        const uint32_t buffer = operand_(static_cast<ValueId>(load.bits));
        const Expr halves =
            body_->load_chunk(Chunk::kHalves, buffer, w_.emit(Scalar{&arena_, load.a}));
        w_.assign(to, to.chunk() == Chunk::kHalves ? halves : body_->reinterpret(halves));
    }
    w_.end();
}

void MatmulBody::read_scale(size_t input, Expr i, Expr j, Expr to) {
    const Scalar element = open_element(input, i, j);
    w_.assign(to, scale_of(element, *views_[input]->unpacked));
    w_.end();
}

/// As the last bits of 2^23, with an offset that makes them positive, integers need no conversion.
Expr MatmulBody::unpacked(uint32_t width, Expr word, Expr which, Expr scale) {
    const auto bits = [&](uint32_t value) { return body_->constant(value, ScalarType::kU32); };
    const auto apply = [&](ScalarOp op, Expr a, Expr b) { return body_->operation(op, a, b); };
    if (width == 4 && !(which.node().kind == ExprKind::kConstant && which.node().bits == 0))
        word = apply(ScalarOp::kShiftRight, word, body_->as(ScalarType::kU32, which) * bits(16));
    const Expr positive = w_.let(
        "positive", apply(ScalarOp::kBitXor, word, bits(width == 4 ? 0x8888u : 0x80808080u)));
    const uint32_t mask = (1u << width) - 1;
    const Expr offset = body_->constant(0x1p23 + (width == 4 ? 8 : 128), ScalarType::kF32);
    std::array<Expr, 4> numbers;
    for (uint32_t i = 0; i < 4; ++i) {
        const Expr shifted =
            i == 0 ? positive : apply(ScalarOp::kShiftRight, positive, bits(width * i));
        const Expr integer = apply(ScalarOp::kBitAnd, shifted, bits(mask));
        const Expr number = apply(ScalarOp::kBitOr, integer, bits(0x4b000000u));
        numbers[i] = body_->operation(ScalarOp::kBitsToF32, number) - offset;
    }
    return body_->scale(body_->compose(numbers), scale);
}

// ------------------------------------------------------------------------------- results

ScalarPlace MatmulBody::result_place() {
    ScalarPlace place;
    // Behind a reshape these coordinates mean nothing; the linear index still does.
    const Shape& space = graph_.values[node_.outputs[0]].shape;
    if (std::ranges::all_of(task_.group.stores,
                            [&](ValueId v) { return graph_.values[v].shape == space; })) {
        place.coords = coords_of(arena_, {batch_index_, {}}, extents_.batch);
        place.coords->axis.push_back(m_);
        place.coords->axis.push_back(n_);
    }
    const Scalar row = batch_index_ * extent_of(arena_, extents_.m) + m_;
    place.linear = row * extent_of(arena_, extents_.n) + n_;
    return place;
}

/// What the group's stores have, as expressions of m, n and the sum.
void MatmulBody::make_contents() {
    if (!contents_.empty()) return;
    expressions_.define(node_.outputs[0], sum_);
    const ScalarPlace place = result_place();
    result_ = *place.linear;
    for (const ValueId v : task_.group.stores) contents_.push_back(expressions_.read(v, place));
}

void MatmulBody::store(Expr m, Expr n, Expr sum) {
    make_contents();
    w_.block();
    w_.bind(m_, named("m", m));
    w_.bind(n_, named("n", n));
    w_.bind(sum_, named("sum", sum));
    std::vector<Expr> contents;
    for (const Scalar content : contents_) contents.push_back(w_.emit(content));
    const Expr at = w_.emit(result_);
    for (size_t i = 0; i < contents.size(); ++i)
        w_.store(operand_(task_.group.stores[i]), at, contents[i]);
    w_.end();
}

bool MatmulBody::stores_by_fours() const {
    if (extents_.n.is_batch || extents_.n.count % 4 != 0) return false;
    return std::ranges::all_of(task_.group.stores, [&](ValueId v) {
        const DType dtype = graph_.values[v].dtype;
        return dtype == DType::kF32 || (dtype == DType::kF16 && held(dtype) == DType::kF16);
    });
}

void MatmulBody::store_four(Expr m, Expr n, Expr sums) {
    sums = named("four", sums);
    if (!stores_by_fours()) {
        const Expr j = w_.for_("j", index(0), [](Expr at) { return at < 4; });
        const Expr column = w_.let("n", n + j);
        const bool has_fours = is_whole(extents_.n, 4);
        if (!has_fours) w_.if_(column < n_count_);
        store(m, column, body_->chunk_element(sums, j));
        return end(has_fours ? 1 : 2);
    }
    make_contents();
    w_.block();
    w_.bind(m_, named("m", m));
    const Expr at = w_.declare("at", ScalarType::kI32);
    std::vector<Expr> stored;
    for (size_t i = 0; i < contents_.size(); ++i)
        stored.push_back(w_.declare_chunk("stored" + std::to_string(i), Chunk::kFour));
    for (int64_t lane = 0; lane < 4; ++lane) {
        w_.block();
        w_.bind(n_, lane == 0 ? named("n", n) : w_.let("n", n + lane));
        w_.bind(sum_, w_.let("sum", body_->chunk_element(sums, index(lane))));
        for (const auto& [load, four] : early_)
            w_.define(load, body_->chunk_element(four, index(lane)));
        for (size_t i = 0; i < contents_.size(); ++i)
            w_.assign(body_->chunk_element(stored[i], index(lane)), w_.emit(contents_[i]));
        if (lane == 0) w_.assign(at, w_.emit(result_));
        w_.end();
    }
    for (size_t i = 0; i < stored.size(); ++i)
        w_.store_elements(operand_(task_.group.stores[i]), at, {&stored[i], 1});
    w_.end();
}

bool MatmulBody::lies_in_fours(ValueId value) const {
    const DType in_memory = held(graph_.values[value].dtype);
    return in_memory == DType::kF32 || in_memory == DType::kF16;
}

Expr MatmulBody::load_four(ValueId value, Scalar at) {
    return body_->load_chunk(Chunk::kFour, operand_(value), w_.emit(at));
}

void MatmulBody::load_early(Expr inside, Expr m, Expr n) {
    make_contents();
    const Scalar place[] = {batch_index_, m_, n_};
    const IndexAnalysis analysis(arena_, n_, n_, 4);
    for (const Scalar load : loads_in(arena_, contents_)) {
        const ScalarNode node = load.node();
        const Scalar at{&arena_, node.a};
        if (load.type() != ScalarType::kF32 || !reads_only(arena_, at, place)) continue;
        if (reads_only(arena_, at, {})) continue;  // the kernel begins with it
        const std::optional<int> step = analysis.step(at);
        const bool is_vector = step == 1 && analysis.is_aligned(at) && lies_in_fours(node.bits);
        if (step == 0 || is_vector)
            early_.emplace_back(
                load, w_.declare_chunk("early" + std::to_string(early_.size()), Chunk::kFour));
    }
    w_.if_(inside);
    w_.bind(m_, named("m", m));
    w_.bind(n_, named("n", n));
    for (const auto& [load, four] : early_) {
        const Scalar at{&arena_, load.node().a};
        const auto value = static_cast<ValueId>(load.node().bits);
        w_.assign(four, analysis.step(at) == 0 ? body_->fill(Chunk::kFour, w_.emit(load))
                                               : load_four(value, at));
    }
    w_.end();
}

}  // namespace hearth
