// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/lower.hpp"

#include "compiler/codegen/fused_network/fused_network.hpp"
#include "compiler/codegen/glsl_compiler.hpp"
#include "compiler/codegen/group_kernels.hpp"
#include "compiler/codegen/kernel_family.hpp"
#include "compiler/codegen/khr_matrices.hpp"
#include "compiler/codegen/no_contraction.hpp"
#include "compiler/codegen/operands.hpp"
#include "compiler/codegen/replicated_scalars.hpp"
#include "compiler/fusion/levels.hpp"
#include "compiler/ir/held_types.hpp"
#include "compiler/kernel/code_size.hpp"
#include "compiler/ops/cpu_windows.hpp"
#include "compiler/print/glsl.hpp"
#include "compiler/shaders/define.hpp"
#include "compiler/shaders/shader_text.hpp"
#include "core/driver_workarounds.hpp"
#include "program/spirv.hpp"

#include <hearth/core/hash.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <bit>
#include <deque>
#include <optional>
#include <unordered_map>

namespace hearth {

namespace {

/// How a kernel's buffers become operands: those that it locates itself first.
struct OperandLayout {
    std::vector<size_t> order;  ///< positions in BufferTable::values
    uint32_t located_count = 0;
    bool uses_rows = false;

    uint32_t count() const { return static_cast<uint32_t>(order.size()) + (uses_rows ? 1 : 0); }
};

constexpr uint32_t kMaxPushedOperands = 14;  // 112 of 128 bytes
constexpr int kMostCpuOperands = 64;         // streams that one loop had better not exceed

/// Whether the value may lie in a buffer of the host's: an input, what an input is set to, or an
/// output.
bool may_be_external(const Graph& graph, ValueId v) {
    const auto is_input = [&](ValueId value) {
        return graph.value(value).kind == ValueKind::kInput;
    };
    return is_input(v) ||
           std::ranges::any_of(graph.updates,
                               [&](const Assignment& update) {
                                   return update.value == v && is_input(update.target);
                               }) ||
           std::ranges::any_of(graph.outputs,
                               [&](const GraphOutput& output) { return output.value == v; });
}

OperandLayout layout_of(const Graph& graph, const KernelDraft& kernel, const DeviceCaps& caps) {
    OperandLayout layout;
    const std::vector<uint32_t>& values = kernel.buffers.values;
    for (size_t i = 0; i < values.size(); ++i) layout.order.push_back(i);
    if (is_cpu(caps)) return layout;  // a function has any number of operands, and is told the rows
    layout.uses_rows = kernel.buffers.uses_rows;
    if (layout.count() <= kMaxPushedOperands) return layout;
    const auto first_pushed =
        std::stable_partition(layout.order.begin(), layout.order.end(),
                              [&](size_t i) { return !may_be_external(graph, values[i]); });
    layout.located_count = static_cast<uint32_t>(first_pushed - layout.order.begin());
    return layout;
}

std::string buffer_type(std::string_view name, std::string_view element, int alignment) {
    return "layout(buffer_reference, std430, buffer_reference_align = " +
           std::to_string(alignment) + ") buffer " + std::string(name) + " { " +
           std::string(element) + " at[]; };\n";
}

/// Another view of a buffer: vectors of so many bytes.
struct VectorView {
    std::string_view suffix, block, element;
    int bytes;
    std::vector<uint32_t> KernelDraft::*values;

    bool has(const KernelDraft& kernel, uint32_t value) const {
        const std::vector<uint32_t>& list = kernel.*values;
        return std::find(list.begin(), list.end(), value) != list.end();
    }
};

const VectorView kVectorViews[] = {
    {"v", "F32x4", "vec4", 16, &KernelDraft::vector_loads},
    {"w", "U32x4", "uvec4", 16, &KernelDraft::word_loads},
    {"p", "U32x2", "uvec2", 8, &KernelDraft::pair_loads},
};

/// The types of all buffers that the kernel names.
std::string buffer_types(const Graph& graph, const KernelDraft& kernel, const OperandLayout& layout,
                         NarrowStorage storage) {
    std::vector<HeldType> types;
    for (uint32_t v : kernel.buffers.values)
        types.push_back(held_type(graph.values[v].dtype, storage));
    if (layout.uses_rows) types.push_back(held_type(DType::kU32, storage));
    std::string text;
    std::vector<std::string_view> declared;
    for (const HeldType& type : types) {
        if (std::find(declared.begin(), declared.end(), type.block) != declared.end()) continue;
        declared.push_back(type.block);
        text += buffer_type(type.block, type.element, static_cast<int>(size_bytes(type.dtype)));
    }
    return text;
}

/// Declares the operands so that `b0.at[i]` is an element and `b0a` the address.  Addresses are
/// words, which each use converts to a reference (see GlslPrinter::type_of).
std::string address_declarations(const Graph& graph, const KernelDraft& kernel,
                                 const OperandLayout& layout, NarrowStorage storage) {
    std::string text = buffer_types(graph, kernel, layout, storage);
    for (const VectorView& view : kVectorViews)
        if (!(kernel.*view.values).empty())
            text += buffer_type(view.block, view.element, view.bytes);
    std::string push, names;
    if (layout.located_count > 0) push += "    uvec2 arena, weights;\n";
    for (size_t o = 0; o < layout.order.size(); ++o) {
        const size_t i = layout.order[o];
        const std::string type(
            held_type(graph.values[kernel.buffers.values[i]].dtype, storage).block);
        const std::string number = std::to_string(i);
        if (o < layout.located_count) {
            text += "layout(constant_id = " + std::to_string(o) + ") const uint place" + number +
                    " = 0u;\n";
            names += "#define b" + number + "a hearth_locate(place" + number + ")\n";
        } else {
            push += "    uvec2 p" + number + ";\n";
            names += "#define b" + number + "a push.p" + number + "\n";
        }
        const auto add_view = [&](std::string_view suffix, std::string_view block) {
            names += "#define b" + number + std::string(suffix) + " " + std::string(block) + "(b" +
                     number + "a)\n";
        };
        add_view("", type);
        for (const VectorView& view : kVectorViews)
            if (view.has(kernel, kernel.buffers.values[i])) add_view(view.suffix, view.block);
    }
    if (layout.uses_rows) push += "    uvec2 run;\n";
    if (!push.empty())
        text += "layout(push_constant, std430) uniform Push {\n" + push + "} push;\n";
    if (layout.located_count > 0)
        // Program::locate: units of 16 bytes, and in bit 0 whether in the weights.
        text +=
            "uvec2 hearth_locate(uint place) {\n"
            "    const uvec2 region = (place & 1u) != 0u ? push.weights : push.arena;\n"
            "    uint carry;\n"
            "    const uint low = uaddCarry(region.x, (place >> 1) << 4, carry);\n"
            "    return uvec2(low, region.y + (place >> 29) + carry);\n}\n";
    text += names;
    if (layout.uses_rows) text += "#define rows int(U32(push.run).at[0])\n";
    return text;
}

/// The same, in descriptors.
std::string descriptor_declarations(const Graph& graph, const KernelDraft& kernel,
                                    NarrowStorage storage) {
    std::string text;
    const std::vector<uint32_t>& values = kernel.buffers.values;
    for (size_t i = 0; i < values.size(); ++i) {
        const std::string element(held_type(graph.values[values[i]].dtype, storage).element);
        text += "layout(set = 0, binding = " + std::to_string(i) + ", std430) buffer Block" +
                std::to_string(i) + " { " + element + " at[]; } b" + std::to_string(i) + ";\n";
        for (const VectorView& view : kVectorViews)
            if (view.has(kernel, values[i]))
                text += "layout(set = 0, binding = " + std::to_string(i) + ", std430) buffer " +
                        std::string(view.block) + "Block" + std::to_string(i) + " { " +
                        std::string(view.element) + " at[]; } b" + std::to_string(i) +
                        std::string(view.suffix) + ";\n";
    }
    if (kernel.buffers.uses_rows)
        text += "layout(set = 0, binding = " + std::to_string(values.size()) +
                ", std430) buffer RunBlock { uint at[]; } run;\n#define rows int(run.at[0])\n";
    return text;
}

/// Whether the kernel is a hand-written text, with functions of a body ahead of it.
bool is_text(const KernelDraft& kernel) {
    return !kernel.text.empty();
}

/// What a kernel's text needs ahead of it.
BodyRequirements needs_of(const KernelDraft& kernel) {
    BodyRequirements needs = body_requirements(*kernel.described);
    if (!is_text(kernel)) return needs;
    // What it calls itself; its extensions it requires itself.
    needs.rounding = true;
    needs.functions |= kernel.calls_math;
    needs.matrices = false;
    return needs;
}

/// The extension by which a kernel with matrices reaches matrix cores.
CooperativeMatrixExt matrix_cores_of(const KernelDraft& kernel, const DeviceCaps& caps) {
    return kernel.prefers_nv_matrices && caps.cooperative_matrix_nv ? CooperativeMatrixExt::kNv
                                                                    : caps.cooperative_matrix;
}

/// What a text with matrices must say first.
std::string matrix_head(const KernelDraft& kernel, const DeviceCaps& caps) {
    std::string text =
        "#extension GL_NV_cooperative_matrix : require\n"
        "#extension GL_KHR_memory_scope_semantics : require\n"
        "#extension GL_KHR_shader_subgroup_basic : require\n"
        "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n";
    if (matrix_cores_of(kernel, caps) == CooperativeMatrixExt::kKhr)
        text += "#pragma use_vulkan_memory_model\n#define HEARTH_MATRIX_KHR\n";
    if (kernel.workgroup_matrix) text += "#define HEARTH_MATRIX_WORKGROUP\n";
    const MatrixShape shape = kernel.workgroup_matrix.value_or(caps.cooperative_matrix_shape);
    const auto size = [&](const char* name, uint32_t value) {
        text += "#define hearth_matrix_" + std::string(name) + " " + std::to_string(value) + "\n";
    };
    size("m", shape.m);
    size("n", shape.n);
    size("k", shape.k);
    return text;
}

std::string kernel_source(const Graph& graph, const KernelDraft& kernel,
                          const OperandLayout& layout, BindingModel model, const DeviceCaps& caps) {
    const NarrowStorage storage = caps.narrow_storage();
    const bool by_address = model == BindingModel::kDeviceAddress;
    const BodyRequirements needs = needs_of(kernel);
    std::string text = "#version 450\n";
    if (needs.unrolled) text += "#extension GL_EXT_control_flow_attributes : require\n";
    if (kernel.has_matrices)
        text += matrix_head(kernel, caps);
    else if (kernel.uses_subgroups)
        text += "#extension GL_KHR_shader_subgroup_basic : require\n";
    if (by_address) text += "#extension GL_EXT_buffer_reference : require\n";
    if (by_address) text += "#extension GL_EXT_buffer_reference_uvec2 : require\n";
    if (holds(graph, kernel.buffers, storage, 2))
        text += "#extension GL_EXT_shader_16bit_storage : require\n";
    if (holds(graph, kernel.buffers, storage, 1))
        text += "#extension GL_EXT_shader_8bit_storage : require\n";
    const bool is_wide = needs.wide || holds(graph, kernel.buffers, storage, 8);
    if (is_wide) text += "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n";
    text += "layout(local_size_x = " + std::to_string(kernel.local_size[0]) +
            ", local_size_y = " + std::to_string(kernel.local_size[1]) +
            ", local_size_z = " + std::to_string(kernel.local_size[2]) + ") in;\n";
    text += by_address ? address_declarations(graph, kernel, layout, storage)
                       : descriptor_declarations(graph, kernel, storage);
    if (needs.rounding) {
        if (kGuardedRounding.is_needed(caps) && holds(graph, kernel.buffers, storage, 2))
            text += "#define HEARTH_CONVERTS_TO_NEAREST\n";
        text += shader_text("common/narrow.glsl");
    }
    if (needs.random) text += shader_text("common/philox.glsl");
    if (kernel.has_matrices) text += shader_text("common/coopmat.glsl");
    if (needs.matrices) text += shader_text("common/halves.glsl");
    if (needs.functions) text += shader_text("common/math.glsl");
    if (is_wide) text += shader_text("common/int64.glsl");
    const GlslOptions print{
        .divides_exactly = !kernel.may_divide_inexactly && kExactDivision.is_needed(caps),
        .asks_for_nan = kGuardedNan.is_needed(caps)};
    if (needs.quotients && print.divides_exactly) text += shader_text("common/division.glsl");
    if (is_text(kernel)) {
        const size_t last = kernel.ahead_of_last.empty() ? 0 : 1;
        text += kernel.head + print_glsl_functions(*kernel.described, last, print);
        if (last != 0)
            text += kernel.ahead_of_last +
                    print_glsl_function(*kernel.described, kernel.described->functions.size() - 1,
                                        print);
        return text + kernel.text;
    }
    return text + print_glsl(*kernel.described, print);
}

/// The group's numbers, and those within them.
std::vector<const Group*> with_replicated_scalars_within(const Group& group) {
    std::vector<const Group*> all;
    for (const std::shared_ptr<const Group>& number : group.replicated_scalars) {
        all.push_back(number.get());
        const std::vector<const Group*> inner = with_replicated_scalars_within(*number);
        all.insert(all.end(), inner.begin(), inner.end());
    }
    return all;
}

/// Groups as one that computes, stores and reads all that they do.
template <class Groups>
Group union_of(const Groups& groups) {
    Group whole;
    for (const Group* group : groups) {
        whole.nodes.insert(whole.nodes.end(), group->nodes.begin(), group->nodes.end());
        whole.stores.insert(whole.stores.end(), group->stores.begin(), group->stores.end());
        for (const std::shared_ptr<const Group>& number : group->replicated_scalars)
            if (std::find(whole.replicated_scalars.begin(), whole.replicated_scalars.end(),
                          number) == whole.replicated_scalars.end())
                whole.replicated_scalars.push_back(number);
    }
    std::sort(whole.nodes.begin(), whole.nodes.end());
    return whole;
}

/// Every value that the group's kernel works out, recomputed views included, in data-flow order.
std::vector<uint32_t> computed_values(const Graph& graph, const Group& group,
                                      const std::vector<bool>& inlined) {
    std::vector<bool> wanted(graph.nodes.size());
    std::vector<NodeId> stack(group.nodes);
    const std::vector<const Group*> numbers = with_replicated_scalars_within(group);
    const auto is_number = [&](ValueId v) {
        return std::any_of(numbers.begin(), numbers.end(), [&](const Group* number) {
            return std::binary_search(number->nodes.begin(), number->nodes.end(),
                                      graph.values[v].node);
        });
    };
    while (!stack.empty()) {
        const NodeId n = stack.back();
        stack.pop_back();
        if (wanted[n]) continue;
        wanted[n] = true;
        if (graph.nodes[n].op->is_opaque) continue;
        for (ValueId v : graph.nodes[n].inputs)
            if (const Value& in = graph.values[v];
                in.kind == ValueKind::kNode && (inlined[in.node] || is_number(v)))
                stack.push_back(in.node);
    }
    std::vector<uint32_t> values;
    for (NodeId n = 0; n < graph.nodes.size(); ++n)
        if (wanted[n])
            values.insert(values.end(), graph.nodes[n].outputs.begin(),
                          graph.nodes[n].outputs.end());
    return values;
}

std::string label_of(const Graph& graph, const Group& group) {
    std::string label;
    for (NodeId n : group.nodes)
        label += (label.empty() ? "" : "+") + std::string(graph.nodes[n].op->name);
    return label;
}

/// The alignment that the kernel's code relies on.
Result<uint32_t> access_bytes_of(const Kernel& kernel) {
    std::vector<SpirvId> ids(spirv_bound(kernel.spirv));
    SpirvFacts facts;
    ViewError error;
    if (!read_spirv(kernel.spirv, {}, ids, &facts, &error))
        return internal_error("kernel " + kernel.name + ": " + error.text.c_str());
    return std::bit_ceil(facts.access_bytes);
}

/// Lowers graphs one after the other, sharing kernels of equal text or code.
class Lowerer {
  public:
    explicit Lowerer(const LowerOptions& options) : options_(options) {
        out_.binding_model = options.binding_model;
        out_.profile = options.caps.name;
    }

    Status add(const Graph& graph) {
        LoweredEntry entry;
        entry.name = graph.name;
        for (ValueId v = 0; v < graph.values.size(); ++v) {
            const Node* maker = replaced_by(graph, v);
            entry.alias_of.push_back(maker != nullptr ? maker->inputs[0] : v);
        }
        // A fused network keeps all of a small net's values at hand: there is nothing to spare.
        const bool spares = options_.spare_memory || spares_memory(graph);
        if (spares || !add_with_region(graph, entry)) {
            const bool by_address = options_.binding_model == BindingModel::kDeviceAddress;
            // The live rows are an operand, too.
            FusionOptions fusion{
                .enabled = options_.fuse,
                .max_operands = static_cast<int>(kMaxPushedOperands) - (by_address ? 0 : 1),
                .must_fit = !by_address,
                .any_operands = by_address,
                .spare_memory = options_.spare_memory,
                .store_windows = is_software(options_.caps),
                .store_gathered = is_cpu(options_.caps)};
            if (is_cpu(options_.caps))
                fusion.max_operands = kMostCpuOperands;
            else
                for (const Node& node : graph.nodes)
                    fusion.folds_rows.push_back(node.op->op_class == OpClass::kMatmul &&
                                                folds_rows(graph, node, options_));
            FusionPlan plan = fuse(graph, fusion);
            if (options_.fused_networks && !spares) replicate_scalars(graph, plan, options_);
            std::vector<PlannedCall> calls;
            for (const Group& group : plan.groups) calls.push_back({{&group}, std::nullopt, 0, ""});
            HEARTH_TRY(add_calls(graph, plan, std::move(calls), !spares, entry));
        }
        out_.entries.push_back(std::move(entry));
        return {};
    }

    /// A copy between kernels by vkCmdCopyBuffer takes a GPU about 3 us, as both wait for another
    /// stage; one by a kernel takes as long as any small one.  For a CPU it is the other way round.
    Status add_copy_kernel() {
        if (is_software(options_.caps) || !options_.compile_kernels) return {};
        const uint32_t threads = usual_workgroup_size(options_.caps);
        const bool by_address = options_.binding_model == BindingModel::kDeviceAddress;
        const std::string source = "#version 450\n" + define("ADDRESSES", by_address ? 1 : 0) +
                                   define("THREADS", threads) +
                                   std::string(shader_text("copy/copy_words.comp"));
        Kernel kernel;
        kernel.name = kCopyKernel;
        HEARTH_ASSIGN(kernel.spirv, compile_glsl(source, kernel.name, options_.caps.spirv_version));
        kernel.operand_count = 2;
        kernel.word_count = 1;
        kernel.operands = {{Access::kRead, {}, sizeof(uint32_t)},
                           {Access::kWrite, {}, sizeof(uint32_t)}};
        kernel.local_size = {threads, 1, 1};
        if (options_.keep_source) kernel.source = source;
        out_.kernels.push_back(std::move(kernel));
        return {};
    }

    LoweredProgram take() { return std::move(out_); }

  private:
    /// Lowers the graph with its rows' region as one kernel.  False, and nothing is added, if it
    /// has none or that is no fused network.
    bool add_with_region(const Graph& graph, LoweredEntry& entry) {
        if (!options_.fused_networks) return false;
        const RowRegion region = find_row_region(graph);
        if (region.empty()) return false;
        FusionPlan plan = fuse(graph, {.any_operands = true, .region = region});
        replicate_scalars(graph, plan, options_);
        std::vector<const Group*> members;
        for (const Group& group : plan.groups)
            if (group.in_region) members.push_back(&group);
        if (members.size() < 2) return false;  // one kernel as it is
        LoweredEntry lowered = entry;
        const size_t kernels = out_.kernels.size();
        const Status status = add_region(graph, region, plan, members, lowered);
        if (status.ok()) {
            entry = std::move(lowered);
        } else {
            forget_kernels(kernels);
            out_.notes.push_back("entry '" + graph.name + "': the rows' region of " +
                                 std::to_string(region.nodes.size()) +
                                 " nodes is no fused network: " + status.message());
        }
        return status.ok();
    }

    /// Removes the kernels from `first` on.
    void forget_kernels(size_t first) {
        out_.kernels.resize(first);
        if (out_.bodies.size() > first) out_.bodies.resize(first);
        const auto is_gone = [&](const auto& entry) { return entry.second >= first; };
        std::erase_if(by_source_, is_gone);
        std::erase_if(by_code_, is_gone);
    }

    Status add_region(const Graph& graph, const RowRegion& region, const FusionPlan& plan,
                      std::span<const Group* const> members, LoweredEntry& entry) {
        for (const Group* group : members) HEARTH_TRY(check_lowerable(graph, *group));
        std::deque<Group> wholes;
        HEARTH_ASSIGN(std::vector<PlannedCall> calls,
                      region_calls(graph, region, plan, members, wholes));
        for (const Group& group : plan.groups)
            if (!group.in_region) calls.push_back({{&group}, std::nullopt, 0, ""});
        return add_calls(graph, plan, std::move(calls), true, entry);
    }

    /// One kernel: a group, several as its parts, or the region's groups with their kernel.
    struct PlannedCall {
        std::vector<const Group*> groups;
        std::optional<KernelDraft> kernel;
        uint32_t depth = 0;  ///< longest chain of calls that it waits for
        std::string label;
    };

    /// The region as one fused network; or as the fewest of which none exceeds the instructions of
    /// the device model, each of as many groups as fit.  wholes: receives the groups of each.
    Result<std::vector<PlannedCall>> region_calls(const Graph& graph, const RowRegion& region,
                                                  const FusionPlan& plan,
                                                  std::span<const Group* const> members,
                                                  std::deque<Group>& wholes) const {
        std::vector<PlannedCall> calls;
        const auto add = [&](std::span<const Group* const> groups, KernelDraft kernel) {
            Group& whole = wholes.emplace_back(union_of(groups));
            whole.stores = kernel.stores;
            calls.push_back({{&whole}, std::move(kernel), 0, "fused network"});
        };
        HEARTH_ASSIGN(KernelDraft undivided,
                      fused_network(graph, region, members, plan.inlined, options_));
        if (is_small(undivided)) {
            add(members, std::move(undivided));
            return calls;
        }
        for (std::span<const Group* const> rest = members; !rest.empty();) {
            std::optional<KernelDraft> largest;
            size_t fits = 1, exceeds = rest.size() + 1;
            while (exceeds - fits > 1) {
                const size_t count = (fits + exceeds) / 2;
                const auto groups = rest.first(count);
                Result<KernelDraft> kernel =
                    fused_network(graph, part_of_region(graph, region, members, groups), groups,
                                  plan.inlined, options_);
                const bool does_fit = kernel.ok() && is_small(*kernel);
                (does_fit ? fits : exceeds) = count;
                if (does_fit) largest = std::move(*kernel);
            }
            if (largest) {
                // A variant is measured for the region as a whole.
                largest->tunable.clear();
                largest->variants.clear();
                add(rest.first(fits), std::move(*largest));
            } else {
                calls.push_back({{rest[0]}, std::nullopt, 0, ""});
            }
            rest = rest.subspan(fits);
        }
        return calls;
    }

    /// The region without the nodes of its other members.
    static RowRegion part_of_region(const Graph& graph, const RowRegion& region,
                                    std::span<const Group* const> members,
                                    std::span<const Group* const> groups) {
        RowRegion part = region;
        for (const Group* member : members)
            for (const NodeId n : member->nodes) part.contains[n] = false;
        for (const Group* group : groups)
            for (const NodeId n : group->nodes) part.contains[n] = true;
        part.nodes.clear();
        for (NodeId n = 0; n < graph.nodes.size(); ++n)
            if (part.contains[n]) part.nodes.push_back(n);
        return part;
    }

    /// Adds calls in an order that respects data flow, those that wait for equally much as parts of
    /// one where they can be.  in_parts: parts are alive at the same time, which takes memory.
    Status add_calls(const Graph& graph, const FusionPlan& plan, std::vector<PlannedCall> calls,
                     bool in_parts, LoweredEntry& entry) {
        std::vector<const Group*> groups;
        std::vector<bool> has_kernel;
        for (const PlannedCall& call : calls) {
            groups.push_back(call.groups[0]);
            has_kernel.push_back(call.kernel.has_value());
        }
        const GroupLevels levels = find_levels(graph, groups, plan.inlined, has_kernel);
        for (size_t c = 0; c < calls.size(); ++c) calls[c].depth = levels.depth[c];
        note_levels(graph, plan, calls);
        // Launching a kernel costs a CPU next to nothing.
        if (in_parts && options_.fuse && !is_cpu(options_.caps) &&
            options_.binding_model == BindingModel::kDeviceAddress)
            calls = merged(graph, plan, levels, std::move(calls));
        if (in_parts)
            std::stable_sort(
                calls.begin(), calls.end(),
                [](const PlannedCall& a, const PlannedCall& b) { return a.depth < b.depth; });
        for (PlannedCall& call : calls) {
            if (!call.kernel) {
                HEARTH_TRY(add_group(graph, *call.groups[0], plan.inlined, entry));
                continue;
            }
            HEARTH_TRY(add_call(graph, union_of(call.groups), plan.inlined, std::move(*call.kernel),
                                std::move(call.label), entry));
        }
        return {};
    }

    /// Tells which calls wait for each other where a training step with a fused network needs more
    /// than the fused network, sums, and updates.
    void note_levels(const Graph& graph, const FusionPlan& plan,
                     const std::vector<PlannedCall>& calls) {
        constexpr uint32_t kLevels = 3;
        const auto last = std::max_element(
            calls.begin(), calls.end(),
            [](const PlannedCall& a, const PlannedCall& b) { return a.depth < b.depth; });
        const bool has_fused_network =
            std::any_of(calls.begin(), calls.end(), [](const auto& call) { return call.kernel; });
        if (!has_fused_network || graph.updates.empty() || last->depth < kLevels) return;
        std::string chain;
        for (const PlannedCall* call = &*last; call != nullptr;) {
            const Group& group = *call->groups[0];
            std::string label = call->kernel ? call->label : label_of(graph, group);
            if (group.kind == GroupKind::kReduction && !call->kernel)
                label += " of " + to_string(group.space);
            chain = label + (chain.empty() ? "" : ", then ") + chain;
            const std::vector<ValueId> loads = loads_of(graph, group, plan.inlined);
            const auto before = std::find_if(calls.begin(), calls.end(), [&](const auto& c) {
                const std::vector<ValueId>& stores = c.groups[0]->stores;
                return c.depth + 1 == call->depth &&
                       std::any_of(stores.begin(), stores.end(), [&](ValueId v) {
                           return std::binary_search(loads.begin(), loads.end(), v);
                       });
            });
            call = before == calls.end() ? nullptr : &*before;
        }
        out_.notes.push_back("entry '" + graph.name + "' trains in " +
                             std::to_string(last->depth + 1) + " dependent dispatches, not " +
                             std::to_string(kLevels) + ": " + chain);
    }

    /// The calls, those of a level that can be as parts of one kernel.
    std::vector<PlannedCall> merged(const Graph& graph, const FusionPlan& plan,
                                    const GroupLevels& levels,
                                    std::vector<PlannedCall> calls) const {
        std::vector<PlannedCall> all;
        std::vector<bool> may_be_batched;
        for (PlannedCall& call : calls) {
            const Group& group = *call.groups[0];
            may_be_batched.push_back(!call.kernel && check_lowerable(graph, group).ok() &&
                                     can_be_batched(graph, group, options_));
            if (!may_be_batched.back()) all.push_back(std::move(call));
        }
        for (const LevelBatch& batch : find_batches(levels, may_be_batched)) {
            std::vector<const Group*> groups;
            for (const size_t c : batch.calls) groups.push_back(calls[c].groups[0]);
            merge(graph, plan, groups, batch.depth, all);
        }
        return all;
    }

    /// True if drivers compile the kernel quickly enough.
    bool is_small(const KernelDraft& kernel) const {
        return kernel.described == nullptr || estimate_instructions(*kernel.described) <=
                                                  device_model(options_.caps).max_instructions;
    }

    /// As many at once as one kernel may: of those that touch too many buffers, or are too long, each
    /// half by itself.
    void merge(const Graph& graph, const FusionPlan& plan, std::span<const Group* const> groups,
               uint32_t depth, std::vector<PlannedCall>& all) const {
        constexpr size_t kMostParts = 64;  // of one kernel's text
        PlannedCall whole{{groups.begin(), groups.end()}, std::nullopt, depth, ""};
        if (groups.size() == 1) return all.push_back(std::move(whole));
        if (groups.size() <= kMostParts)
            whole.kernel = batched_kernel(graph, groups, plan.inlined, options_);
        if (whole.kernel && is_small(*whole.kernel) && reaches_operands(graph, *whole.kernel)) {
            whole.label = std::to_string(groups.size()) + " parts, the last " +
                          label_of(graph, *groups.back());
            return all.push_back(std::move(whole));
        }
        const size_t half = groups.size() > kMostParts ? kMostParts : (groups.size() + 1) / 2;
        merge(graph, plan, groups.first(half), depth, all);
        merge(graph, plan, groups.subspan(half), depth, all);
    }

    uint32_t pushed_operands(const Graph& graph, const KernelDraft& kernel) const {
        const OperandLayout layout = layout_of(graph, kernel, options_.caps);
        return layout.count() - layout.located_count + (layout.located_count > 0 ? 2 : 0);
    }

    /// Whether one kernel can reach all its operands.  Descriptors cannot be located in the arena.
    bool reaches_operands(const Graph& graph, const KernelDraft& kernel) const {
        if (is_cpu(options_.caps)) return true;
        const bool is_located = layout_of(graph, kernel, options_.caps).located_count > 0;
        return pushed_operands(graph, kernel) <= kMaxPushedOperands &&
               !(is_located && options_.binding_model == BindingModel::kDescriptor);
    }

    Status add_group(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                     LoweredEntry& entry) {
        HEARTH_TRY(check_lowerable(graph, group));
        return add_call(graph, group, inlined, group_kernel(graph, group, inlined),
                        label_of(graph, group), entry);
    }

    Status add_call(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                    KernelDraft kernel, std::string label, LoweredEntry& entry) {
        // What folded away in the kernel is an operand still: the step's debug table speaks of it.
        for (ValueId v : loads_of(graph, group, inlined)) (void)kernel.buffers.name_of(v);
        kernel.is_elementwise.resize(kernel.buffers.values.size(), false);
        if (!kernel.tunable.empty() && std::find(out_.tunable.begin(), out_.tunable.end(),
                                                 kernel.tunable) == out_.tunable.end())
            out_.tunable.push_back(kernel.tunable);
        if (!kernel.variants.empty()) out_.listed_variants[kernel.tunable] = kernel.variants;
        KernelCall call;
        call.label = std::move(label);
        const OperandLayout layout = layout_of(graph, kernel, options_.caps);
        if (!reaches_operands(graph, kernel))
            return unsupported("kernel '" + call.label + "' has " + std::to_string(layout.count()) +
                               " operands, expected at most " + std::to_string(kMaxPushedOperands));
        if (kernel.described != nullptr) {
            const Status status = verify_body(*kernel.described);
            if (!status.ok())
                return status.with_context("kernel " + kernel.name + " (" + call.label + ")");
            (is_text(kernel) ? call.functions : call.body) = kernel.described;
        }
        if (is_cpu(options_.caps)) {
            call.kernel = body_index(kernel, layout);
        } else if (options_.compile_kernels) {
            HEARTH_ASSIGN(call.kernel, kernel_index(graph, kernel, layout, call.label));
        }
        for (size_t i : layout.order) call.operands.push_back(operand(graph, group, kernel, i));
        if (layout.uses_rows) call.operands.push_back({});
        call.grid = kernel.grid;
        call.flops = kernel.flops;
        for (uint32_t v : kernel.buffers.values) {
            // In place only the rows move, which are another operand.
            const Node* maker = replaced_by(graph, v);
            const Value& value = graph.values[maker != nullptr ? maker->inputs.back() : v];
            call.bytes_moved +=
                static_cast<uint64_t>(
                    value.shape.element_count(static_cast<int64_t>(options_.rows_capacity))) *
                size_bytes(device_dtype(value.dtype, options_.caps.narrow_storage()));
        }
        call.computes = computed_values(graph, group, inlined);
        entry.calls.push_back(std::move(call));
        return {};
    }

    KernelDraft group_kernel(const Graph& graph, const Group& group,
                             const std::vector<bool>& inlined) const {
        switch (group.kind) {
            case GroupKind::kElementwise:
                if (is_cpu(options_.caps) && group.nodes.size() == 1 &&
                    is_cpu_unfold(graph, graph.nodes[group.nodes[0]], options_.caps))
                    return family_kernel(graph, group, graph.nodes[group.nodes[0]], inlined);
                return elementwise_kernel(graph, group, inlined, options_);
            case GroupKind::kReduction:
                return reduction_kernel(graph, group, inlined, options_);
            case GroupKind::kMatmul:
                if (is_cpu(options_.caps))
                    return family_kernel(graph, group, node_of(graph, group, OpClass::kMatmul),
                                         inlined);
                return matmul_kernel(graph, group, inlined, options_);
            case GroupKind::kCustom:
                if (is_cpu(options_.caps)) {
                    const Node& node = node_of(graph, group, OpClass::kKernel);
                    return cpu_family(graph, node, options_.caps) != nullptr
                               ? family_kernel(graph, group, node, inlined)
                               : cpu_custom_kernel(graph, group, inlined, options_);
                }
                if (writes_distinct_rows(graph, group))
                    return rows_kernel(graph, group, inlined, options_);
                return custom_kernel(graph, group, inlined, options_);
        }
        return {};
    }

    /// node: of the group, one that a family for CPUs matches.
    KernelDraft family_kernel(const Graph& graph, const Group& group, const Node& node,
                              const std::vector<bool>& inlined) const {
        return best_kernel(*cpu_family(graph, node, options_.caps),
                           {graph, group, node, inlined, options_});
    }

    Status check_lowerable(const Graph& graph, const Group& group) const {
        for (NodeId n : group.nodes) {
            const OpDef& op = *graph.nodes[n].op;
            const bool has_kernel = op.compute || op.op_class == OpClass::kReduce ||
                                    op.op_class == OpClass::kMatmul ||
                                    op.op_class == OpClass::kKernel;
            if (!has_kernel) return unsupported(std::string(op.name) + " has no kernel");
            if (is_cpu(options_.caps) && op.op_class == OpClass::kKernel && !has_cpu_kernel(op) &&
                cpu_family(graph, graph.nodes[n], options_.caps) == nullptr)
                return unsupported(std::string(op.name) + " has no kernel in C");
            if (op.writes_in_place && !writes_in_place(graph, graph.nodes[n]))
                return internal_error(std::string(op.name) + " cannot write in place here");
        }
        return {};
    }

    /// The node that makes `v` by writing a part of a param or state in place, or null.
    static const Node* replaced_by(const Graph& graph, ValueId v) {
        const Node* maker = graph.producer(v);
        return maker != nullptr && maker->op->writes_in_place ? maker : nullptr;
    }

    static CallOperand operand(const Graph& graph, const Group& group, const KernelDraft& kernel,
                               size_t index) {
        const uint32_t value = kernel.buffers.values[index];
        const bool is_stored =
            std::find(group.stores.begin(), group.stores.end(), value) != group.stores.end();
        if (replaced_by(graph, value) != nullptr) return {value, Access::kReadWrite, false, 0};
        return {value, is_stored ? Access::kWrite : Access::kRead, kernel.is_elementwise[index],
                index < kernel.part_of.size() ? kernel.part_of[index] : 0};
    }

    /// Of a kernel without code: calls with equal bodies share one.
    uint32_t body_index(const KernelDraft& kernel, const OperandLayout& layout) {
        const uint64_t hash = structural_hash(*kernel.described);
        const std::string key = std::to_string(hash) + " " + std::to_string(layout.count());
        if (const auto known = by_source_.find(key); known != by_source_.end())
            return known->second;
        const auto index = static_cast<uint32_t>(out_.kernels.size());
        Kernel made;
        made.name = kernel.name + "_" + std::to_string(index);
        made.operand_count = layout.count();
        made.local_size = kernel.local_size;
        out_.kernels.push_back(std::move(made));
        out_.bodies.push_back(kernel.described);
        by_source_.emplace(key, index);
        return index;
    }

    Result<uint32_t> kernel_index(const Graph& graph, const KernelDraft& text,
                                  const OperandLayout& layout, const std::string& label) {
        const NarrowStorage storage = options_.caps.narrow_storage();
        const bool is_finished = !text.spirv.empty();
        const std::string source =
            is_finished ? std::string(reinterpret_cast<const char*>(text.spirv.data()),
                                      text.spirv.size() * sizeof(uint32_t))
                        : kernel_source(graph, text, layout, options_.binding_model, options_.caps);
        // A kernel that locates its operands belongs to one call.
        const bool is_shared = layout.located_count == 0;
        if (auto known = by_source_.find(source); is_shared && known != by_source_.end())
            return known->second;
        Kernel kernel;
        kernel.name = text.name + "_" + std::to_string(out_.kernels.size());
        if (is_finished) {
            kernel.spirv = text.spirv;
        } else {
            HEARTH_ASSIGN(kernel.spirv, compile_glsl(source, kernel.name + " (" + label + ")",
                                                     options_.caps.spirv_version));
            if (!is_text(text)) kernel.spirv = without_contraction(kernel.spirv);
        }
        if (!is_finished && text.has_matrices) {
            kernel.needs_matrix_cores = matrix_cores_of(text, options_.caps);
            kernel.needs_workgroup_matrices = text.workgroup_matrix.has_value();
            kernel.matrix = text.workgroup_matrix.value_or(options_.caps.cooperative_matrix_shape);
            kernel.needs_fp16_arithmetic = true;
            kernel.subgroup_size = options_.caps.subgroup_size;
            if (kernel.needs_matrix_cores == CooperativeMatrixExt::kKhr) {
                HEARTH_ASSIGN(kernel.spirv, to_khr_matrices(kernel.spirv));
            }
        }
        // A part of a network on matrices may deal its work to subgroups and multiply nothing.
        if (!is_finished && text.uses_subgroups && !text.has_matrices)
            kernel.subgroup_size = text.described->subgroup_size;
        HEARTH_ASSIGN(kernel.access_bytes, access_bytes_of(kernel));
        kernel.operand_count = layout.count();
        kernel.located_count = layout.located_count;
        kernel.local_size = text.local_size;
        kernel.needs_fp16_storage = holds(graph, text.buffers, storage, 2);
        kernel.needs_int8_storage = holds(graph, text.buffers, storage, 1);
        if (options_.keep_source && !is_finished) kernel.source = source;
        const uint32_t index = is_shared ? equal_kernel(kernel) : kInvalidId;
        if (index != kInvalidId) {
            by_source_.emplace(source, index);
            return index;
        }
        out_.kernels.push_back(std::move(kernel));
        const auto last = static_cast<uint32_t>(out_.kernels.size() - 1);
        if (is_shared) by_code_.emplace(code_hash(out_.kernels.back()), last);
        by_source_.emplace(source, last);
        return last;
    }

    static uint64_t code_hash(const Kernel& kernel) {
        Hash hash;
        for (const uint32_t word : kernel.spirv) hash.number(word);
        return hash.value();
    }

    /// A shared kernel with the same code, or kNone: texts may differ in what does not matter.
    uint32_t equal_kernel(const Kernel& kernel) const {
        const auto [first, end] = by_code_.equal_range(code_hash(kernel));
        const auto found = std::find_if(first, end, [&](const auto& entry) {
            const Kernel& other = out_.kernels[entry.second];
            return other.spirv == kernel.spirv && other.operand_count == kernel.operand_count &&
                   other.needs_fp16_storage == kernel.needs_fp16_storage &&
                   other.needs_int8_storage == kernel.needs_int8_storage;
        });
        return found == end ? kInvalidId : found->second;
    }

    LowerOptions options_;
    LoweredProgram out_;
    std::unordered_map<std::string, uint32_t> by_source_;  ///< kernels
    std::unordered_multimap<uint64_t, uint32_t>
        by_code_;  ///< those that are shared, by code_hash()
};

}  // namespace

Result<LoweredProgram> lower(std::span<const Graph> graphs, const LowerOptions& options) {
    Lowerer lowerer(options);
    const NarrowStorage storage = options.caps.narrow_storage();
    for (const Graph& graph : graphs) {
        const Status s = are_types_held(graph, storage)
                             ? lowerer.add(graph)
                             : lowerer.add(with_held_types(graph, storage));
        if (!s.ok()) return s.with_context("entry '" + graph.name + "'");
    }
    if (std::any_of(graphs.begin(), graphs.end(),
                    [](const Graph& g) { return !g.updates.empty(); }))
        HEARTH_TRY(lowerer.add_copy_kernel());
    return lowerer.take();
}

std::string rolled_loops(const DeviceCaps& caps) {
    return kRolledLoops.is_needed(caps) ? "#extension GL_EXT_control_flow_attributes : require\n"
                                          "#define ROLLED [[dont_unroll]]\n"
                                        : "#define ROLLED\n";
}

}  // namespace hearth
