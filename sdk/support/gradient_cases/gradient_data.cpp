// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads gradient cases from JSON.

#include <hearth/file.hpp>
#include <hearth/grad.hpp>

#include <gradient_cases/gradient_cases.hpp>

namespace hearth::gradient_cases {

NamedTensors GradientData::expected(DType dtype) const {
    NamedTensors named{{"y", output.cast(dtype)}};
    for (size_t i = 0; i < grad_inputs.size(); ++i)
        named.emplace("g" + std::to_string(i), grad_inputs[i].cast(dtype));
    return named;
}

NamedTensors GradientData::named_inputs(DType dtype) const {
    NamedTensors named;
    for (size_t i = 0; i < inputs.size(); ++i)
        named.emplace("x" + std::to_string(i), inputs[i].cast(dtype));
    return named;
}

Result<nlohmann::json> read_json(const std::filesystem::path& path) {
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(path.string()));
    const char* const text = reinterpret_cast<const char*>(bytes.data());
    nlohmann::json json =
        nlohmann::json::parse(text, text + bytes.size(), nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded()) return corrupt_data(path.string() + " is not JSON");
    return json;
}

HostTensor f64_tensor(const Shape& shape, const nlohmann::json& numbers) {
    const auto values = numbers.get<std::vector<double>>();
    if (static_cast<int64_t>(values.size()) != shape.element_count(1))
        throw std::length_error("there are " + std::to_string(values.size()) + " numbers for " +
                                to_string(shape));
    return HostTensor::of(shape, values, DType::kF64);
}

HostTensor f64_tensor(const nlohmann::json& object) {
    const auto dims = object.at("shape").get<std::vector<int64_t>>();
    if (dims.size() > kMaxRank) throw std::length_error("the rank is above the largest");
    return f64_tensor(Shape(std::span<const int64_t>(dims)), object.at("data"));
}

Result<GradientData> read_data(const std::filesystem::path& path) {
    HEARTH_ASSIGN(const nlohmann::json json, read_json(path));
    GradientData data;
    try {
        data.name = json.at("name").get<std::string>();
        for (const auto& input : json.at("inputs")) data.inputs.push_back(f64_tensor(input));
        data.output = f64_tensor(json.at("output"));
        data.grad_output = f64_tensor(data.output.shape(), json.at("grad_output"));
        for (size_t i = 0; i < data.inputs.size(); ++i)
            data.grad_inputs.push_back(
                f64_tensor(data.inputs[i].shape(), json.at("grad_inputs").at(i)));
    } catch (const std::exception& e) {
        return corrupt_data(path.string() + ": " + e.what());
    }
    return data;
}

std::unique_ptr<Trace> trace_case(const GradientCase& c, const GradientData& data, DType dtype) {
    auto trace = std::make_unique<Trace>("main");
    std::vector<Tensor> inputs;
    for (const HostTensor& input : data.inputs)
        inputs.push_back(trace->input("x" + std::to_string(inputs.size()), input.shape(), dtype));
    const Tensor y = c.build(inputs);
    if (y.ok() && y.shape() != data.output.shape())
        trace->fail(invalid_argument("the graph gives " + to_string(y.shape()) + ", the file " +
                                     to_string(data.output.shape())));
    const Tensor cotangent = trace->constant(data.grad_output.cast(dtype));
    const std::vector<Tensor> gradients = vjp(std::span(&y, 1), std::span(&cotangent, 1), inputs);
    trace->output("y", y);
    for (size_t i = 0; i < gradients.size(); ++i)
        trace->output("g" + std::to_string(i), gradients[i]);
    return trace;
}

}  // namespace hearth::gradient_cases
