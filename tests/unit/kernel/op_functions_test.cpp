// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The functions by which hand-written kernels reach their operands (op/op_def.hpp, CustomKernel),
// of every operator's samples: each is called for all elements on the CPU, and gives what the
// interpreter gives.

#include "compiler/ir/custom_kernel.hpp"
#include "compiler/kernel/writer.hpp"
#include "unit/kernel/op_kernels.hpp"

#include <hearth/op/op_def.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace hearth::test {
namespace {

/// A function's name: "in0" is of input 0.
struct FunctionName {
    bool is_load = false;
    size_t operand = 0;

    explicit FunctionName(std::string_view name)
        : is_load(name.starts_with("in")), operand(static_cast<size_t>(name.back() - '0')) {}
};

/// The node whose kernel the call is.
const Node* kernel_node(const Graph& graph, const KernelCall& call) {
    for (const uint32_t v : call.computes) {
        const Node* const node = graph.producer(v);
        if (node != nullptr && node->op->op_class == OpClass::kKernel) return node;
    }
    return nullptr;
}

/// A kernel that calls one function for all elements of one tensor, which lies in its last operand:
/// that a load gives, or that are stored.
class FunctionCaller {
  public:
    FunctionCaller(const Body& functions, uint32_t function, const HostTensor& tensor)
        : body_(functions),
          function_(function),
          name_(body_.functions[function].name),
          count_(tensor.element_count()),
          writer_(body_, arena_, {}) {
        elements_ = body_.operand(kElements, tensor.dtype(),
                                  device_dtype(tensor.dtype(), gpu_caps().narrow_storage()));
    }

    const Body& kernel() {
        const Expr i = writer_.for_("i", body_.index(0), [&](Expr at) { return at < count_; });
        if (name_.is_load) {
            const Expr arguments[] = {i};
            writer_.store(elements_, i, writer_.let_call("got", function_, arguments));
        } else {
            const Expr arguments[] = {i, body_.load(elements_, i)};
            writer_.call(function_, arguments);
        }
        writer_.end();
        body_.statements = writer_.take();
        return body_;
    }

    static constexpr uint32_t kElements = 0xfffffff0u;  ///< no value of the graph

  private:
    Body body_;
    uint32_t function_;
    FunctionName name_;
    int64_t count_;
    ScalarArena arena_;
    KernelWriter writer_;
    uint32_t elements_ = 0;
};

/// Calls the functions of a variant's kernels; returns how many they are.
int call_functions(const OpDef& op, const Variant& variant, const DeviceCaps& caps,
                   double tolerance) {
    auto lowered = lower_variant(variant, caps);
    if (!lowered) return 0;
    // Kernels are lowered from a graph with the types that the device holds 64 bits in.
    for (HostTensor& value : lowered->values)
        if (size_bytes(value.dtype()) == 8)
            value = value.cast(device_dtype(value.dtype(), caps.narrow_storage()));
    int count = 0;
    for (const KernelCall& call : lowered->calls) {
        if (call.functions == nullptr || writes_in_place(call)) continue;
        const Node* const node = kernel_node(lowered->graph, call);
        if (node == nullptr) continue;
        for (uint32_t f = 0; f < call.functions->functions.size(); ++f) {
            const FunctionName name(call.functions->functions[f].name);
            const HostTensor& tensor = lowered->values[name.is_load ? node->inputs[name.operand]
                                                                    : node->outputs[name.operand]];
            FunctionCaller caller(*call.functions, f, tensor);
            const Body& kernel = caller.kernel();
            std::vector<OperandMemory> operands;
            for (const BodyBuffer& b : kernel.buffers) {
                const bool is_written =
                    b.value == FunctionCaller::kElements ? name.is_load : writes(call, b.value);
                const HostTensor& contents =
                    b.value == FunctionCaller::kElements ? tensor : lowered->values[b.value];
                operands.push_back(is_written ? OperandMemory::empty(b.dtype, contents.shape())
                                              : OperandMemory::full(contents));
            }
            const std::string label =
                variant.text + ", kernel " + call.label + ", " + call.functions->functions[f].name;
            const Status status = run_kernel(kernel, {label, 1, variant.rows}, operands);
            EXPECT_TRUE(status.ok()) << status.message();
            if (!status.ok()) continue;
            ++count;
            int written = 0;
            for (size_t b = 0; b < operands.size(); ++b) {
                const uint32_t value = kernel.buffers[b].value;
                const std::vector<bool>& is_written = operands[b].is_written;
                const bool is_result = name.is_load ? value == FunctionCaller::kElements
                                                    : value != FunctionCaller::kElements &&
                                                          writes(call, value) &&
                                                          !is_written.empty() && is_written[0];
                if (!is_result) continue;
                ++written;
                EXPECT_TRUE(std::find(is_written.begin(), is_written.end(), false) ==
                            is_written.end())
                    << label << ": does not write all of operand " << b;
                EXPECT_EQ(difference(operands[b].tensor,
                                     name.is_load ? tensor : lowered->values[value], tolerance),
                          "")
                    << op.name << ", " << label << ": operand " << b;
            }
            EXPECT_TRUE(written > 0 || tensor.element_count() == 0) << label << " stores nothing";
        }
    }
    return count;
}

class OpFunctions : public testing::TestWithParam<const OpDef*> {};

TEST_P(OpFunctions, GiveWhatTheInterpreterGivesWithoutFaults) {
    const OpDef& op = *GetParam();
    auto variants = variants_of(op);
    ASSERT_TRUE(variants.ok()) << variants.status().message();
    auto narrow = narrow_variants_of(op, DType::kF16);
    ASSERT_TRUE(narrow.ok()) << narrow.status().message();
    DeviceCaps matrices = gpu_caps();
    matrices.cooperative_matrix = CooperativeMatrixExt::kKhr;
    int count = 0;
    for (const DeviceCaps& caps : {gpu_caps(), cpu_caps(), matrices}) {
        for (const Variant& v : *variants) count += call_functions(op, v, caps, op.tolerance.f32);
        for (const Variant& v : *narrow) count += call_functions(op, v, caps, op.tolerance.f16);
    }
    EXPECT_GT(count, 0) << op.name << " has a kernel of its own, but no function of it was called";
}

/// Whether the operator's kernels for a GPU are GLSL, which calls functions.
bool has_functions(const OpDef& op) {
    if (op.op_class != OpClass::kKernel || op.kernel == nullptr || op.writes_in_place) return false;
    const std::vector<OpCase> cases = cases_of(op);
    return std::any_of(cases.begin(), cases.end(), [](const OpCase& c) {
        const Result<Graph> graph = make_graph(c);
        return graph.ok() &&
               std::any_of(graph->nodes.begin(), graph->nodes.end(), [&](const Node& n) {
                   return n.op == c.op && !has_body(*graph, n, gpu_caps(), 64);
               });
    });
}

std::vector<const OpDef*> ops_with_functions() {
    std::vector<const OpDef*> ops = all_ops();
    std::erase_if(ops, [](const OpDef* op) { return !has_functions(*op); });
    return ops;
}

INSTANTIATE_TEST_SUITE_P(Of, OpFunctions, testing::ValuesIn(ops_with_functions()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace hearth::test
