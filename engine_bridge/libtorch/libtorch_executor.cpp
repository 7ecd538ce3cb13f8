// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// An executor that evaluates graphs with LibTorch.

#include "libtorch_executor.hpp"

#include "operators.hpp"

#include <ATen/Context.h>

#include <cstring>
#include <exception>
#include <string>
#include <utility>

namespace hearth::libtorch {

List extents_of(const Shape& shape, int64_t batch_size) {
    List extents;
    const Shape resolved = shape.resolve(batch_size);
    for (const Dim& d : resolved.dims()) extents.push_back(d.count);
    return extents;
}

at::ScalarType carrier_of(DType dtype) {
    if (dtype == DType::kBool) return at::kBool;
    if (dtype == DType::kF64) return at::kDouble;
    return is_floating(dtype) ? at::kFloat : at::kLong;
}

at::Tensor as_held(const at::Tensor& tensor, DType dtype) {
    const at::Tensor carried = tensor.to(carrier_of(dtype));
    const auto rounded_to = [&](at::ScalarType type) {
        return carried.to(type).to(carried.scalar_type());
    };
    switch (dtype) {
        case DType::kF16:
            return rounded_to(at::kHalf);
        case DType::kBF16:
            return rounded_to(at::kBFloat16);
        case DType::kI8:
            return rounded_to(at::kChar);
        case DType::kI16:
            return rounded_to(at::kShort);
        case DType::kI32:
            return rounded_to(at::kInt);
        case DType::kU8:
            return carried.bitwise_and(0xff);
        case DType::kU16:
            return carried.bitwise_and(0xffff);
        case DType::kU32:
            return carried.bitwise_and(int64_t{0xffffffff});
        default:
            return carried;
    }
}

at::Tensor from_host(const HostTensor& tensor) {
    const at::Tensor t =
        at::empty(extents_of(tensor.shape(), 1), at::TensorOptions(carrier_of(tensor.dtype())));
    const int64_t count = tensor.element_count();
    if (tensor.dtype() == DType::kF32 || tensor.dtype() == DType::kF64) {
        if (count > 0) std::memcpy(t.data_ptr(), tensor.bytes().data(), tensor.bytes().size());
    } else if (t.scalar_type() == at::kFloat) {
        for (int64_t i = 0; i < count; ++i)
            t.data_ptr<float>()[i] = static_cast<float>(tensor.get(i));
    } else if (t.scalar_type() == at::kBool) {
        for (int64_t i = 0; i < count; ++i) t.data_ptr<bool>()[i] = tensor.get_int(i) != 0;
    } else {
        for (int64_t i = 0; i < count; ++i) t.data_ptr<int64_t>()[i] = tensor.get_int(i);
    }
    return t;
}

HostTensor to_host(const at::Tensor& tensor, DType dtype, const Shape& shape) {
    HostTensor out(dtype, shape);
    const at::Tensor t = tensor.contiguous();
    const int64_t count = out.element_count();
    if (dtype == DType::kF32 || dtype == DType::kF64) {
        if (count > 0) std::memcpy(out.bytes().data(), t.data_ptr(), out.bytes().size());
    } else if (t.scalar_type() == at::kFloat) {
        for (int64_t i = 0; i < count; ++i) out.set(i, static_cast<double>(t.data_ptr<float>()[i]));
    } else if (t.scalar_type() == at::kBool) {
        for (int64_t i = 0; i < count; ++i) out.set_int(i, t.data_ptr<bool>()[i]);
    } else {
        for (int64_t i = 0; i < count; ++i) out.set_int(i, t.data_ptr<int64_t>()[i]);
    }
    return out;
}

const Rules& rules() {
    static const Rules all = [] {
        Rules made;
        add_element_rules(made);
        add_reduction_rules(made);
        add_shape_rules(made);
        add_index_rules(made);
        add_order_rules(made);
        add_window_rules(made);
        add_image_rules(made);
        add_random_rules(made);
        return made;
    }();
    return all;
}

namespace {

/// Rejects u64 values beyond the maximum of Long.
Status check_fits(const std::string& name, const HostTensor& tensor) {
    if (tensor.dtype() != DType::kU64) return {};
    for (int64_t i = 0; i < tensor.element_count(); ++i)
        if (tensor.get_int(i) < 0)
            return unsupported("'" + name + "' holds " +
                               std::to_string(static_cast<uint64_t>(tensor.get_int(i))) +
                               ", beyond the integers of LibTorch");
    return {};
}

class LibtorchExecutor final : public Executor {
  public:
    std::string_view name() const override { return "libtorch"; }

    Status load(std::vector<Graph> entries, int64_t max_batch_size) override {
        HEARTH_ASSIGN(NamedTensors variables, initial_values(entries));
        std::vector<Graph> runnable;
        for (const Graph& graph : entries) {
            HEARTH_ASSIGN(Graph decomposed, legalize(graph, [](const Graph&, const Node& node) {
                              return rules().contains(node.op->name);
                          }));
            for (const Value& v : decomposed.values)
                if (v.data) HEARTH_TRY(check_fits(v.name, *v.data));
            runnable.push_back(std::move(decomposed));
        }
        entries_ = std::move(runnable);
        variables_ = std::move(variables);
        max_batch_size_ = max_batch_size;
        return {};
    }

    Result<NamedTensors> run(std::string_view entry, const NamedTensors& inputs,
                             int64_t batch_size) override {
        HEARTH_ASSIGN(const Graph* const graph,
                      validate_entry(entries_, entry, inputs, batch_size, max_batch_size_));
        for (const auto& [name, tensor] : inputs) HEARTH_TRY(check_fits(name, tensor));
        const at::NoGradGuard no_gradients;
        std::vector<at::Tensor> values(graph->values.size());
        for (ValueId id = 0; id < values.size(); ++id) {
            const Value& v = graph->value(id);
            if (v.kind == ValueKind::kInput) values[id] = from_host(inputs.find(v.name)->second);
            if (v.kind == ValueKind::kParam || v.kind == ValueKind::kState)
                values[id] = from_host(variables_.find(v.name)->second);
            if (v.kind == ValueKind::kConstant)
                values[id] =
                    from_host(v.data ? *v.data : HostTensor(v.dtype, v.shape.resolve(batch_size)));
        }
        for (const Node& node : graph->nodes)
            HEARTH_TRY(run_node(*graph, node, batch_size, values));
        return collect(*graph, batch_size, values);
    }

    Result<HostTensor> read(std::string_view variable) override {
        return read_checked(variables_, variable);
    }
    Status write(std::string_view variable, const HostTensor& value) override {
        HEARTH_TRY(validate_write(variables_, variable, value));
        HEARTH_TRY(check_fits(std::string(variable), value));
        variables_.find(variable)->second = value;
        return {};
    }

  private:
    static Status run_node(const Graph& graph, const Node& node, int64_t batch_size,
                           std::vector<at::Tensor>& values) {
        Call call{graph, node, batch_size, {}};
        for (const ValueId id : node.inputs) call.in.push_back(values[id]);
        try {
            const at::Tensor y =
                as_held(rules().find(node.op->name)->second(call), call.out_dtype());
            if (y.sizes().vec() != call.out_shape())
                return internal_error(std::string(node.op->name) + " gave " +
                                      std::to_string(y.dim()) + " axes of another shape");
            values[node.outputs[0]] = y;
        } catch (const std::exception& e) {
            return internal_error(std::string(node.op->name) + ": " + e.what());
        }
        return {};
    }

    NamedTensors collect(const Graph& graph, int64_t batch_size,
                         const std::vector<at::Tensor>& values) {
        const auto host = [&](ValueId id) {
            const Value& v = graph.value(id);
            return to_host(values[id], v.dtype, v.shape.resolve(batch_size));
        };
        NamedTensors outputs, updated;
        for (const GraphOutput& output : graph.outputs)
            outputs.emplace(output.name, host(output.value));
        for (const Assignment& update : graph.updates) {
            const Value& target = graph.value(update.target);
            (target.kind == ValueKind::kInput ? outputs : updated)
                .emplace(target.name, host(update.value));
        }
        for (auto& [name, tensor] : updated) variables_.find(name)->second = std::move(tensor);
        return outputs;
    }

    std::vector<Graph> entries_;
    NamedTensors variables_;
    int64_t max_batch_size_ = 0;
};

}  // namespace

}  // namespace hearth::libtorch

namespace hearth {

std::unique_ptr<Executor> make_libtorch_executor() {
    return std::make_unique<libtorch::LibtorchExecutor>();
}

}  // namespace hearth
