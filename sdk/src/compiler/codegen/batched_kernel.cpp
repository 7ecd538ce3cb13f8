// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Several groups as one kernel, each with some of the workgroups.
//
// Horizontal fusion.  A GPU fetches code from memory as it fetches data, and a workgroup runs its code
// once: what the kernel of all params' updates takes is mostly the time in which its code arrives.  So
// groups whose bodies differ in buffers and whole numbers alone, as the updates of all params do,
// share one function, whose parameters each chooses.

#include "compiler/codegen/batched_kernel.hpp"

#include "compiler/codegen/elementwise/elementwise_kernel.hpp"
#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/reduction/reduction_kernel.hpp"
#include "compiler/codegen/scatter/rows_kernel.hpp"
#include "compiler/codegen/shared/extents.hpp"
#include "compiler/codegen/shared/kernel_part.hpp"
#include "compiler/kernel/writer.hpp"
#include "core/device_model.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>

namespace hearth {

namespace {

/// Which part touches each buffer, and whether element by element: only what one part alone
/// touches can be.
void note_part(KernelDraft& whole, const Body& body, const KernelPart& part, uint32_t index,
               std::span<const ValueId> touched) {
    constexpr uint32_t kNobody = 0xffffffffu;
    whole.part_of.resize(body.buffers.size(), kNobody);
    whole.is_elementwise.resize(body.buffers.size(), false);
    for (size_t b = 0; b < body.buffers.size(); ++b) {
        if (std::find(touched.begin(), touched.end(), body.buffers[b].value) == touched.end())
            continue;
        const bool is_first = whole.part_of[b] == kNobody;
        whole.part_of[b] = is_first ? index : 0;
        whole.is_elementwise[b] = is_first && part.is_elementwise[b];
    }
}

class PartsWriter {
  public:
    /// can_be_passed: true of buffers that functions can take.
    PartsWriter(Body& body, uint32_t threads, std::function<bool(const BodyBuffer&)> can_be_passed)
        : body_(body),
          threads_(threads),
          can_be_passed_(std::move(can_be_passed)),
          writer_(body, no_expressions_, {}) {}

    /// group: the parameter by which the statements know their workgroup.
    void add(Expr group, const KernelPart& part) {
        parts_.push_back({group, part.replicated_scalars, part.statements, part.grid.groups(1)});
    }

    /// Writes functions, and the statements that choose among them.
    void write() {
        const Expr workgroup = writer_.let("group", body_.workgroup());
        share_replicated_scalars();
        std::vector<std::vector<size_t>> classes;  // of parts that are alike
        std::map<std::vector<uint64_t>, size_t> known;
        for (size_t p = 0; p < parts_.size(); ++p) {
            outlines_.push_back(outline_of(body_, parts_[p].statements, parts_[p].group));
            const auto [at, is_new] = known.try_emplace(class_key(outlines_[p]), classes.size());
            if (is_new) classes.emplace_back();
            classes[at->second].push_back(p);
        }
        for (size_t c = 0; c < classes.size(); ++c) {
            if (c > 0) writer_.else_();
            write_class(classes[c], workgroup);
        }
        for (size_t c = 1; c < classes.size(); ++c) writer_.end();
        body_.statements = writer_.take();
        body_.threads = threads_;
    }

  private:
    struct Part {
        Expr group;
        std::vector<uint32_t> replicated_scalars;
        std::vector<Statement> statements;
        uint64_t groups = 0;
    };

    /// Calls what most workgroups work out first ahead of the choice; the rest in the parts.
    void share_replicated_scalars() {
        std::vector<uint32_t> order;
        std::map<uint32_t, uint64_t> callers;
        uint64_t all = 0;
        for (const Part& part : parts_) {
            all += part.groups;
            for (const uint32_t function : part.replicated_scalars) {
                if (!callers.contains(function)) order.push_back(function);
                callers[function] += part.groups;
            }
        }
        for (const uint32_t function : order)
            if (2 * callers[function] >= all) writer_.call(function);
        for (Part& part : parts_) {
            KernelWriter own(body_, no_expressions_, {});
            for (const uint32_t function : part.replicated_scalars)
                if (2 * callers[function] < all) own.call(function);
            std::vector<Statement> calls = own.take();
            part.statements.insert(part.statements.begin(), std::make_move_iterator(calls.begin()),
                                   std::make_move_iterator(calls.end()));
        }
    }

    /// Equal for parts that can be one function: alike, with the same buffers where none can be
    /// passed.
    std::vector<uint64_t> class_key(const BodyOutline& outline) const {
        std::vector<uint64_t> key = outline.structure;
        for (const BodyOutline::Hole& hole : outline.holes)
            if (hole.is_buffer) key.push_back(is_fixed(hole) ? hole.content + uint64_t{1} : 0);
        key.push_back(outline.structure.size());
        return key;
    }
    bool is_fixed(const BodyOutline::Hole& hole) const {
        return hole.is_buffer && !can_be_passed_(body_.buffers[hole.content]);
    }

    uint32_t add_function(size_t first, std::vector<uint32_t> parameters,
                          std::vector<Statement> statements) {
        BodyFunction function;
        function.name = "part" + std::to_string(first);
        function.parameters = std::move(parameters);
        function.statements = std::move(statements);
        body_.functions.push_back(std::move(function));
        return static_cast<uint32_t>(body_.functions.size() - 1);
    }

    Expr number(uint64_t n) { return body_.index(static_cast<int64_t>(n)); }

    /// Opens the condition under which a workgroup is of the class, and leaves it to be closed.
    void write_class(std::span<const size_t> members, Expr workgroup) {
        uint64_t end = next_;
        for (size_t p : members) end += parts_[p].groups;
        writer_.if_(workgroup < number(end));
        if (members.size() == 1) {
            Part& part = parts_[members[0]];
            const uint32_t function =
                add_function(members[0], {part.group.id}, std::move(part.statements));
            const Expr argument = workgroup - number(next_);
            writer_.call(function, {&argument, 1});
            next_ = end;
        } else {
            write_shared(members, workgroup);
        }
        writer_.end();
    }

    /// What members of a class choose for themselves.
    struct Parameter {
        Expr inside, outside;  ///< in the function; where it is called
        size_t hole = 0;
    };

    void write_shared(std::span<const size_t> members, Expr workgroup) {
        Part& first = parts_[members[0]];
        const Expr begin = writer_.declare("begin", ScalarType::kI32);
        const std::vector<BodyOutline::Hole>& holes = outlines_[members[0]].holes;
        // Holes of the same contents are one parameter, and numbers that all share none.
        std::vector<Parameter> parameters;
        std::map<std::vector<BodyOutline::Hole>, Expr> known;
        std::vector<Expr> contents;
        size_t buffers = 0;
        for (size_t h = 0; h < holes.size(); ++h) {
            std::vector<BodyOutline::Hole> of_members;
            for (size_t p : members) of_members.push_back(outlines_[p].holes[h]);
            const bool is_same = std::all_of(of_members.begin(), of_members.end(),
                                             [&](const auto& c) { return c == of_members[0]; });
            if (is_same && (!holes[h].is_buffer || is_fixed(holes[h]))) {
                contents.push_back({});
                continue;
            }
            const auto [at, is_new] = known.try_emplace(of_members);
            if (is_new) {
                const std::string name = holes[h].is_buffer ? "p" + std::to_string(buffers++)
                                                            : "n" + std::to_string(known.size());
                parameters.push_back(new_parameter(name, holes[h], h));
                at->second = parameters.back().inside;
            }
            contents.push_back(at->second);
        }
        std::vector<uint32_t> heads{first.group.id};
        for (const Parameter& p : parameters) heads.push_back(p.inside.id);
        const uint32_t function =
            add_function(members[0], std::move(heads),
                         fill_holes(body_, first.statements, first.group, contents));
        for (size_t i = 0; i < members.size(); ++i) {
            if (i > 0) writer_.else_();
            const uint64_t part_end = next_ + parts_[members[i]].groups;
            const bool is_last = i + 1 == members.size();
            if (!is_last) writer_.if_(workgroup < number(part_end));
            writer_.assign(begin, number(next_));
            for (const Parameter& p : parameters) {
                const BodyOutline::Hole& hole = outlines_[members[i]].holes[p.hole];
                writer_.assign(p.outside, hole.is_buffer ? body_.buffer(hole.content)
                                                         : body_.index(hole.content));
            }
            if (!is_last) writer_.end();
            next_ = part_end;
        }
        for (size_t i = 1; i < members.size(); ++i) writer_.end();
        std::vector<Expr> arguments{workgroup - begin};
        for (const Parameter& p : parameters) arguments.push_back(p.outside);
        writer_.call(function, arguments);
    }

    Parameter new_parameter(const std::string& name, const BodyOutline::Hole& hole, size_t index) {
        if (!hole.is_buffer)
            return {body_.new_local(name, LocalKind::kParameter, ScalarType::kI32),
                    writer_.declare(name, ScalarType::kI32), index};
        const DType dtype = DType::kF32;  // as outline_of finds them
        return {body_.new_buffer(name, BufferKind::kParameter, dtype, dtype),
                writer_.declare_buffer(name, dtype, dtype), index};
    }

    Body& body_;
    const uint32_t threads_;
    const std::function<bool(const BodyBuffer&)> can_be_passed_;
    ScalarArena no_expressions_;
    KernelWriter writer_;
    std::vector<Part> parts_;
    std::vector<BodyOutline> outlines_;
    uint64_t next_ = 0;  ///< workgroup
};

/// True if the group's kernel can be a part of a batched one: it has a fixed number of workgroups, of
/// usual_workgroup_size().
bool can_be_batched(const Graph& graph, const Group& group, const LowerOptions& options) {
    const uint64_t most_groups = options.caps.max_compute_work_group_count_x;
    const uint32_t threads = usual_workgroup_size(options.caps);
    const auto has_a_thread_for_each = [&](Dim count) {
        return !count.is_batch && items_each(count, 1, threads * most_groups) == 1;
    };
    if (group.kind == GroupKind::kElementwise)
        return has_a_thread_for_each(group.space.element_count());
    if (writes_distinct_rows(graph, group))
        return has_a_thread_for_each(written_rows(graph, group).element_count());
    if (group.kind != GroupKind::kReduction) return false;
    const ReductionLayout layout = reduction_layout(group, options);
    return !layout.outer.element_count().is_batch && !layout.is_looped &&
           layout.lanes * layout.columns == threads;
}

/// groups: those that can_be_batched().
/// Null if all together have more workgroups than the device may be given at once.
std::optional<KernelDraft> batched_kernel(const Graph& graph, std::span<const Group* const> groups,
                                          const std::vector<bool>& inlined,
                                          const LowerOptions& options) {
    KernelDraft whole;
    whole.name = "parts";
    const auto body = std::make_shared<Body>();
    const uint32_t threads = usual_workgroup_size(options.caps);
    const bool by_address = options.binding_model == BindingModel::kDeviceAddress;
    const std::vector<bool> is_external = external_values(graph);
    PartsWriter writer(*body, threads, [&](const BodyBuffer& buffer) {
        return by_address || !is_external[buffer.value];
    });
    uint64_t count = 0;
    for (size_t g = 0; g < groups.size(); ++g) {
        const Group& group = *groups[g];
        const auto write_part = group.kind == GroupKind::kElementwise ? elementwise_part
                                : group.kind == GroupKind::kReduction ? reduction_part
                                                                      : rows_part;
        const Expr workgroup = body->new_local("group", LocalKind::kParameter, ScalarType::kI32);
        const KernelPart part = write_part({graph, group, inlined, options}, *body, workgroup);
        HEARTH_ASSERT(part.grid.work.is_batch == 0 && part.threads == threads);
        writer.add(workgroup, part);
        count += part.grid.groups(1);
        std::vector<ValueId> touched = loads_of(graph, group, inlined);
        touched.insert(touched.end(), group.stores.begin(), group.stores.end());
        note_part(whole, *body, part, static_cast<uint32_t>(g + 1), touched);
        whole.flops += part.flops;
    }
    if (count > options.caps.max_compute_work_group_count_x) return std::nullopt;
    writer.write();
    set_body(whole, body);
    whole.grid[0] = {{count, 0}, 1};
    return whole;
}

/// Appends to `all` as many groups at once as one kernel may compute: halves of those that touch too
/// many buffers, or that drivers would compile for too long.
void add_batches(const Graph& graph, const std::vector<bool>& inlined,
                 std::span<const Group* const> groups, uint32_t depth, const LowerOptions& options,
                 std::vector<PlannedCall>& all) {
    constexpr size_t kMostParts = 64;  // of one kernel's text
    PlannedCall whole{{groups.begin(), groups.end()}, std::nullopt, depth, ""};
    if (groups.size() == 1) return all.push_back(std::move(whole));
    if (groups.size() <= kMostParts) whole.kernel = batched_kernel(graph, groups, inlined, options);
    if (whole.kernel && compiles_quickly(*whole.kernel, options.caps) &&
        reaches_operands(operand_layout(graph, *whole.kernel, options), options.caps)) {
        whole.label =
            std::to_string(groups.size()) + " parts, the last " + label_of(graph, *groups.back());
        return all.push_back(std::move(whole));
    }
    const size_t half = groups.size() > kMostParts ? kMostParts : (groups.size() + 1) / 2;
    add_batches(graph, inlined, groups.first(half), depth, options, all);
    add_batches(graph, inlined, groups.subspan(half), depth, options, all);
}

/// Moves groups out of a batch that write rows of a tensor in place which other groups of it read:
/// nothing orders the parts of a kernel.
std::vector<const Group*> take_racing_writers(const Graph& graph, const std::vector<bool>& inlined,
                                              std::vector<const Group*>& groups) {
    const auto races = [&](const Group* group) {
        if (!writes_distinct_rows(graph, *group)) return false;
        const ValueId target = node_of(graph, *group, OpClass::kKernel).inputs[0];
        return std::ranges::any_of(groups, [&](const Group* other) {
            return other != group &&
                   std::ranges::binary_search(loads_of(graph, *other, inlined), target);
        });
    };
    std::vector<const Group*> taken, kept;
    for (const Group* group : groups) (races(group) ? taken : kept).push_back(group);
    groups = std::move(kept);
    return taken;
}

}  // namespace

std::vector<PlannedCall> batch_calls(const Graph& graph, const std::vector<bool>& inlined,
                                     const GroupLevels& levels, std::vector<PlannedCall> calls,
                                     const LowerOptions& options) {
    std::vector<PlannedCall> all;
    std::vector<bool> may_be_batched;
    for (PlannedCall& call : calls) {
        may_be_batched.push_back(!call.kernel && can_be_batched(graph, *call.groups[0], options));
        if (!may_be_batched.back()) all.push_back(std::move(call));
    }
    for (const LevelBatch& batch : find_batches(levels, may_be_batched)) {
        std::vector<const Group*> groups;
        for (const size_t c : batch.calls) groups.push_back(calls[c].groups[0]);
        const auto after = take_racing_writers(graph, inlined, groups);
        if (!groups.empty()) add_batches(graph, inlined, groups, batch.depth, options, all);
        for (const Group* group : after) all.push_back({{group}, std::nullopt, batch.depth, ""});
    }
    return all;
}

}  // namespace hearth
