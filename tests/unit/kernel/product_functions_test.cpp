// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The functions around matrix products (compiler/codegen/matmul/matmul_functions.hpp), of every sample of
// the product and for each device class: called for all elements on the CPU, they give the
// operands' elements and store what the interpreter has.  Chunks of packed integers are left out:
// only a text can look into them.

#include "compiler/codegen/matmul/matmul_functions.hpp"
#include "compiler/kernel/writer.hpp"
#include "unit/kernel/op_kernels.hpp"

#include <hearth/op/op_def.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace hearth::test {
namespace {

constexpr uint32_t kElements = 0xfffffff0u;  ///< no value of the graph

const Node* product_in(const Graph& graph, const KernelCall& call) {
    for (const uint32_t v : call.computes) {
        const Node* const node = graph.producer(v);
        if (node != nullptr && node->op->op_class == OpClass::kMatmul) return node;
    }
    return nullptr;
}

/// A product with its operands as it calls them: [batch, first, second].
class Product {
  public:
    Product(const LoweredVariant& lowered, const KernelCall& call, const Node& node, int64_t rows)
        : lowered_(lowered), call_(call), node_(node), rows_(rows) {
        const MatmulExtents extents(lowered.graph, node);
        batch_ = extents.batch.element_count(rows);
        batch_shape_ = extents.batch;
        m_ = extents.m.resolve(rows);
        n_ = extents.n.resolve(rows);
        k_ = extents.k.resolve(rows);
    }

    /// Whether the function of this index is right; none if nothing can be said of it.
    std::optional<Status> check(uint32_t function) const {
        const std::string& name = call_.functions->functions[function].name;
        const bool is_a = name.starts_with("load_a");
        if (name == "load_a" || name == "load_b") return check_load(function, is_a ? 0 : 1, 0);
        if (name.starts_with("load_a") || name.starts_with("load_b") || name == "load_chunk") {
            const Chunk chunk = call_.functions->functions[function].result_chunk;
            if (chunk == Chunk::kInt4 || chunk == Chunk::kInt8) return {};
            // Along one axis or the other.
            const Status second = check_load(function, is_a ? 0 : 1, 2);
            return second.ok() ? second : check_load(function, is_a ? 0 : 1, 1);
        }
        if (name == "store" || name == "store4") return check_store(function, name == "store4");
        return {};
    }

  private:
    /// The operand's elements as the product calls them.
    HostTensor operand(size_t input) const {
        const HostTensor& in = lowered_.values[node_.inputs[input]];
        const Shape& shape = in.shape();
        const int64_t first = input == 0 ? m_ : k_, second = input == 0 ? k_ : n_;
        const bool is_swapped = node_.attrs.flag(input == 0 ? "transpose_a" : "transpose_b");
        HostTensor out(in.dtype(), {batch_, first, second});
        for (int64_t b = 0; b < batch_; ++b) {
            int64_t rest = b, at = 0, stride = first * second;
            for (int axis = batch_shape_.rank(); axis-- > 0;) {
                const int64_t extent = batch_shape_[axis].resolve(rows_), place = rest % extent;
                rest /= extent;
                const int own = axis - (batch_shape_.rank() - (shape.rank() - 2));
                if (own < 0) continue;
                if (shape[own].count != 1) at += place * stride;
                stride *= shape[own].count;
            }
            for (int64_t i = 0; i < first; ++i)
                for (int64_t j = 0; j < second; ++j)
                    out.set((b * first + i) * second + j,
                            in.get(at + (is_swapped ? j * first + i : i * second + j)));
        }
        return out;
    }

    /// Calls a load everywhere; axis: along which a chunk lies, 0: it is a number.
    Status check_load(uint32_t function, size_t input, int axis) const {
        const HostTensor expected = operand(input);
        const int64_t first = expected.shape()[1].count, second = expected.shape()[2].count;
        Body body = *call_.functions;
        const BodyFunction called = body.functions[function];
        const int64_t length = length_of(called.result_chunk);
        ScalarArena arena;
        KernelWriter w(body, arena, {});
        const uint32_t to = body.operand(kElements, DType::kF32, DType::kF32);
        const Expr b = loop(body, w, "b", batch_, 1);
        const Expr i = loop(body, w, "i", first, axis == 1 ? length : 1);
        const Expr j = loop(body, w, "j", second, axis == 2 ? length : 1);
        std::vector<Expr> arguments = {b, i, j};
        if (called.parameters.size() == 5) {
            arguments.push_back(body.index(first));
            arguments.push_back(body.index(second));
        }
        const Expr got = w.let_call("got", function, arguments);
        for (int64_t e = 0; e < length; ++e) {
            const Expr at =
                (b * first + (axis == 1 ? i + e : i)) * second + (axis == 2 ? j + e : j);
            const Expr lane = body.index(e % 4);
            Expr element = got;
            if (called.result_chunk == Chunk::kFour || called.result_chunk == Chunk::kEight) {
                element = body.chunk_element(got, lane, static_cast<uint32_t>(e / 4));
            } else if (length == 8) {
                const Expr four =
                    w.let("four" + std::to_string(e), body.part(got, static_cast<uint32_t>(e / 4)));
                element = body.chunk_element(four, lane);
            }
            if (element.type() != ScalarType::kF32)
                element = body.operation(ScalarOp::kToF32, element);
            // Behind the last there are zeros.
            const Expr place = axis == 1 ? i + e : j + e;
            if (axis != 0) w.if_(place < (axis == 1 ? first : second));
            w.store(to, at, element);
            if (axis != 0) w.end();
        }
        for (int depth = 0; depth < 3; ++depth) w.end();
        body.statements = w.take();
        std::vector<OperandMemory> operands = memory(body, {batch_, first, second});
        HEARTH_TRY(run_kernel(body, {"load", 1, rows_}, operands));
        for (int64_t e = 0; e < expected.element_count(); ++e)
            if (operands.back().tensor.get(e) != expected.get(e))
                return internal_error(called.name + " gives " +
                                      std::to_string(operands.back().tensor.get(e)) + ", not " +
                                      std::to_string(expected.get(e)) + " as element " +
                                      std::to_string(e));
        return {};
    }

    Status check_store(uint32_t function, bool is_four) const {
        const HostTensor& sums = lowered_.values[node_.outputs[0]];
        Body body = *call_.functions;
        ScalarArena arena;
        KernelWriter w(body, arena, {});
        const uint32_t from = body.operand(kElements, sums.dtype(),
                                           device_dtype(sums.dtype(), gpu_caps().narrow_storage()));
        const Expr b = loop(body, w, "b", batch_, 1), m = loop(body, w, "m", m_, 1);
        const Expr n = loop(body, w, "n", n_, is_four ? 4 : 1);
        std::vector<Expr> arguments = {b, m, n};
        const auto sum = [&](Expr at) { return body.load(from, (b * m_ + m) * n_ + at); };
        uint32_t early = 0;
        if (body.find_function("fetch_early", &early) != nullptr) w.call(early, arguments);
        if (is_four) {
            arguments.push_back(w.declare_chunk("four", Chunk::kFour));
            for (int64_t e = 0; e < 4; ++e)
                w.assign(body.chunk_element(arguments.back(), body.index(e)),
                         select(n + e < n_, sum(n + e), body.constant(0, ScalarType::kF32)));
        } else {
            arguments.push_back(sum(n));
        }
        w.call(function, arguments);
        for (int depth = 0; depth < 3; ++depth) w.end();
        body.statements = w.take();
        std::vector<OperandMemory> operands = memory(body, sums.shape());
        operands.back() = OperandMemory::full(sums);
        HEARTH_TRY(run_kernel(body, {"store", 1, rows_}, operands));
        for (size_t i = 0; i < operands.size(); ++i) {
            const uint32_t value = body.buffers[i].value;
            if (value == kElements || !writes(call_, value)) continue;
            const std::string what = difference(operands[i].tensor, lowered_.values[value], 1e-3);
            if (!what.empty()) return internal_error(body.functions[function].name + ": " + what);
        }
        return {};
    }

    static Expr loop(Body& body, KernelWriter& w, const char* name, int64_t count, int64_t step) {
        return w.for_(
            name, body.index(0), [count](Expr i) { return i < count; }, body.index(step));
    }

    /// What the call reads, as it is; what it writes, and the last operand, empty.
    std::vector<OperandMemory> memory(const Body& body, const Shape& last) const {
        std::vector<OperandMemory> operands;
        for (const BodyBuffer& b : body.buffers)
            if (b.value == kElements)
                operands.push_back(OperandMemory::empty(b.dtype, last));
            else if (writes(call_, b.value))
                operands.push_back(OperandMemory::empty(b.dtype, lowered_.values[b.value].shape()));
            else
                operands.push_back(OperandMemory::full(lowered_.values[b.value]));
        return operands;
    }

    const LoweredVariant& lowered_;
    const KernelCall& call_;
    const Node& node_;
    int64_t rows_, batch_ = 1, m_ = 0, n_ = 0, k_ = 0;
    Shape batch_shape_;
};

class ProductFunctions : public testing::TestWithParam<const OpDef*> {};

TEST_P(ProductFunctions, GiveWhatTheInterpreterGivesWithoutFaults) {
    const OpDef& op = *GetParam();
    auto variants = variants_of(op);
    ASSERT_TRUE(variants.ok()) << variants.status().message();
    auto narrow = narrow_variants_of(op, DType::kF16);
    ASSERT_TRUE(narrow.ok()) << narrow.status().message();
    DeviceCaps matrices = gpu_caps();
    matrices.cooperative_matrix = CooperativeMatrixExt::kKhr;
    int count = 0;
    for (const DeviceCaps& caps : {gpu_caps(), cpu_caps(), matrices})
        for (const auto* list : {&*variants, &*narrow})
            for (const Variant& variant : *list) {
                const auto lowered = lower_variant(variant, caps);
                if (!lowered) continue;
                for (const KernelCall& call : lowered->calls) {
                    const Node* const node = product_in(lowered->graph, call);
                    if (node == nullptr || call.functions == nullptr || node->attrs.has("parts"))
                        continue;
                    const Product product(*lowered, call, *node, variant.rows);
                    for (uint32_t f = 0; f < call.functions->functions.size(); ++f) {
                        const auto status = product.check(f);
                        if (!status) continue;
                        ++count;
                        EXPECT_TRUE(status->ok()) << variant.text << ", kernel " << call.label
                                                  << ": " << status->message();
                    }
                }
            }
    EXPECT_GT(count, 0);
}

std::vector<const OpDef*> ops_with_products() {
    std::vector<const OpDef*> ops = all_ops();
    std::erase_if(ops, [](const OpDef* op) { return op->name != "matmul"; });
    return ops;
}

INSTANTIATE_TEST_SUITE_P(Of, ProductFunctions, testing::ValuesIn(ops_with_products()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace hearth::test
