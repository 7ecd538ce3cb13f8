// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/fused_network/frame.hpp"

#include "compiler/codegen/shared/group_access.hpp"
#include "core/driver_workarounds.hpp"

#include <algorithm>

namespace hearth {

Shape without_rows(const Shape& shape) {
    Shape inner = shape;
    inner.erase(0);
    return inner;
}

NetworkFrame::NetworkFrame(const Graph& graph_in, const RowRegion& region_in, NetworkPlan plan_in,
                           const std::vector<bool>& inlined_in, const LowerOptions& options_in)
    : graph(graph_in),
      region(region_in),
      plan(std::move(plan_in)),
      inlined(inlined_in),
      options(options_in),
      readers(readers_of(graph_in)),
      leaves(leaves_graph(graph_in)),
      is_software(hearth::is_software(options_in.caps)),
      is_made(graph_in.values.size(), false),
      body(std::make_shared<Body>()),
      operand(operands_of(graph_in, options_in, *body)),
      declarations(writer()),
      ends(writer()) {
    for (const NetworkStage& stage : plan.stages) {
        if (stage.group == nullptr) continue;
        for (const std::shared_ptr<const Group>& number : stage.group->replicated_scalars)
            if (std::find(replicated_scalars.begin(), replicated_scalars.end(), number) ==
                replicated_scalars.end())
                replicated_scalars.push_back(number);
        for (const ValueId v : stage.group->stores) is_made[v] = true;
    }
    body->threads = static_cast<uint32_t>(plan.threads);
    if (has_matrices()) {
        body->matrix = options.caps.cooperative_matrix_shape;
        body->subgroup_size = static_cast<uint32_t>(plan.threads / plan.subgroups);
    }
    pool = body->global("pool", LocalKind::kShared,
                        has_matrices() ? ScalarType::kU32 : ScalarType::kF32,
                        static_cast<uint32_t>(ceil_div(plan.shared_floats, 4)), Chunk::kFour);
}

bool NetworkFrame::is_in_buffer(ValueId v, DType dtype) const {
    const Value& value = graph.value(v);
    return value.dtype == dtype && !(value.kind == ValueKind::kNode && inlined[value.node]) &&
           value.shape.element_count() != Dim(1);
}

bool NetworkFrame::is_read_outside(ValueId v) const {
    if (leaves[v]) return true;
    return std::any_of(readers[v].begin(), readers[v].end(), [&](NodeId r) {
        const bool is_outside = !region.has(r) && !inlined[r];
        return is_outside || (inlined[r] && is_read_outside(graph.nodes[r].outputs[0]));
    });
}

int NetworkFrame::row_width(ValueId v) const {
    return static_cast<int>(without_rows(graph.value(v).shape).element_count().count);
}

KernelWriter NetworkFrame::writer() {
    KernelWriter made(*body, no_scalars, operand);
    if (kRolledLoops.is_needed(options.caps)) made.keep_rolled();
    return made;
}

void NetworkFrame::note_store(ValueId v) {
    if (std::find(stores.begin(), stores.end(), v) == stores.end()) stores.push_back(v);
}

void NetworkFrame::store_zeros_without_rows(uint32_t sums, int elements) {
    ends.if_(begin >= end);
    const Expr e = ends.for_(
        "e", thread, [&](Expr next) { return next < elements; }, index(plan.threads));
    ends.store(sums, group * elements + e, zero());
    ends.end();
    ends.end();
}

int NetworkFrame::take_threads(int tasks) {
    constexpr int kTogether = 32;  // threads of a subgroup stay together
    const int taken = next_thread_;
    next_thread_ = (taken + ceil_div(tasks, kTogether) * kTogether) % plan.threads;
    return taken;
}

Expr NetworkFrame::let_lane(KernelWriter& to, int first_thread) const {
    return to.let("lane", first_thread == 0
                              ? thread
                              : (thread + (plan.threads - first_thread)) % plan.threads);
}

NetworkFrame::Tasks NetworkFrame::each_task(KernelWriter& to, Expr lane, int tasks) const {
    if (tasks > plan.threads)
        return {to.for_(
                    "e", lane, [&](Expr e) { return e < tasks; }, index(plan.threads)),
                1};
    to.block();
    const Expr e = to.declare("e", ScalarType::kI32, lane);
    (void)to.unrolled_for_("round", 1);
    to.if_(e < tasks);
    return {e, 3};
}

void NetworkFrame::close(KernelWriter& to, const Tasks& tasks) {
    for (int i = 0; i < tasks.scopes; ++i) to.end();
}

int NetworkFrame::take_subgroups(int tasks) {
    const int size = plan.threads / plan.subgroups, taken = next_thread_ / size;
    next_thread_ = (next_thread_ + tasks * size) % plan.threads;
    return taken;
}

Expr NetworkFrame::let_own(KernelWriter& to, int first_subgroup) const {
    return to.let("own", first_subgroup == 0
                             ? subgroup
                             : (subgroup + (plan.subgroups - first_subgroup)) % plan.subgroups);
}

NetworkFrame::Kept NetworkFrame::keep(ValueId v, const std::function<Expr()>& declare) {
    const auto [at, is_new] = kept_.try_emplace(v);
    if (is_new) at->second = declare();
    return {at->second, is_new};
}

namespace {

Expr slot(Expr pool, Expr element) {
    return pool.body->chunk_element(pool.body->element(pool, element >> 2), element & 3);
}

Expr as(ScalarType type, Expr number) {
    Body& body = *number.body;
    if (type == number.type()) return number;
    if (type == ScalarType::kF32) return body.operation(ScalarOp::kBitsToF32, number);
    if (number.type() != ScalarType::kF32)
        return body.operation(type == ScalarType::kI32 ? ScalarOp::kToI32 : ScalarOp::kToU32,
                              number);
    return body.operation(type == ScalarType::kI32 ? ScalarOp::kBitsToI32 : ScalarOp::kBitsToU32,
                          number);
}

}  // namespace

Expr NetworkFrame::shared(Expr element, ScalarType type) const {
    return as(type, slot(pool, element));
}

void NetworkFrame::put_shared(KernelWriter& to, Expr element, Expr value) const {
    to.assign(slot(pool, element), as(pool.type(), value));
}

Expr NetworkFrame::shared_half(Expr element) const {
    const Expr word = body->chunk_element(body->element(pool, element >> 3), (element >> 1) & 3);
    return body->chunk_element(body->two_halves(word), element & 1);
}

}  // namespace hearth
