// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ops/edge_points.hpp"

#include "compiler/interpreter/interpreter.hpp"
#include "ops/op_cases.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/grad.hpp>
#include <hearth/op/attrs.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace hearth::test {

namespace {

struct Range {
    double largest, square_overflows, square_underflows, normal, subnormal;
};

Range range_of(DType dtype) {
    if (dtype == DType::kF16) return {65504, 512, 0x1p-13, 0x1p-14, 0x1p-24};
    if (dtype == DType::kBF16) return {0x1.fep127, 1e20, 1e-20, 0x1p-126, 0x1p-133};
    return {0x1.fffffep127, 1e20, 1e-20, 0x1p-126, 0x1p-149};
}

/// largest, smallest: the finite and the positive number at the ends of the list.
std::vector<double> edges_of(DType dtype, double largest, double smallest) {
    const Range range = range_of(dtype);
    std::vector<double> edges;
    for (const double edge : {0.0, 1.0, range.square_overflows, largest, range.square_underflows,
                              range.normal, smallest, HUGE_VAL}) {
        edges.push_back(edge);
        edges.push_back(-edge);
    }
    return edges;
}

/// A large number of which some can be added.
double large_term(DType dtype) {
    return range_of(dtype).largest / 0x1p10;
}

OpCase with_floats(OpCase c, DType dtype) {
    for (TensorType& t : c.sample.inputs)
        if (t.dtype == DType::kF32) t.dtype = dtype;
    return c;
}

/// The operator on all combinations of edges.
EdgeCase elementwise_case(const OpCase& c, DType dtype, bool subnormals) {
    const Range range = range_of(dtype);
    const std::vector<double> edges =
        edges_of(dtype, range.largest, subnormals ? range.subnormal : range.normal);
    const auto edge_count = static_cast<int64_t>(edges.size());
    int64_t count = 1;
    for (const TensorType& t : c.sample.inputs) count *= is_floating(t.dtype) ? edge_count : 2;
    EdgeCase result{.name = std::string(c.op->name), .is_elementwise = true};
    int64_t stride = 1;
    for (const TensorType& t : c.sample.inputs) {
        const int64_t extent = is_floating(t.dtype) ? edge_count : 2;
        HostTensor& operand = result.usual.emplace_back(t.dtype, Shape{count});
        for (int64_t i = 0; i < count; ++i) {
            const int64_t choice = i / stride % extent;
            operand.set(i, is_floating(t.dtype) ? edges[static_cast<size_t>(choice)]
                                                : static_cast<double>(choice));
        }
        stride *= extent;
    }
    return result;
}

int64_t element_count(const OpCase& c) {
    int64_t count = 0;
    for (const TensorType& t : c.sample.inputs) count += t.shape.element_count(c.rows());
    return count;
}

bool is_nonfinite(double x) {
    return !std::isfinite(x);
}

}  // namespace

std::vector<EdgeCase> edge_cases_of(const OpDef& op, DType dtype, bool subnormals) {
    std::vector<OpCase> samples;
    const bool has_gradient =
        !op.stops_gradient && (op.vjp != nullptr || op.op_class == OpClass::kComposite);
    for (const OpCase& c : cases_of(op))
        if (has_gradient && std::ranges::any_of(c.sample.inputs, [](const TensorType& t) {
                return t.dtype == DType::kF32;
            }))
            samples.push_back(with_floats(c, dtype));
    const bool is_elementwise = op.op_class == OpClass::kElementwise;
    if (!is_elementwise) {
        // The smallest ones: each is run at hundreds of points.
        constexpr size_t kMostCases = 5;
        constexpr int64_t kMostElements = 100;
        std::ranges::stable_sort(samples, {}, element_count);
        while (samples.size() > kMostCases ||
               (samples.size() > 1 && element_count(samples.back()) > kMostElements))
            samples.pop_back();
    }
    std::vector<EdgeCase> cases;
    std::set<std::string> attrs;
    for (const OpCase& c : samples) {
        EdgeCase edge{.name = std::string(op.name), .usual = make_inputs(c), .rows = c.rows()};
        for (const TensorType& t : c.sample.inputs) edge.shapes.push_back(t.shape);
        if (is_elementwise) {
            if (!attrs.insert(to_string(c.sample.attrs)).second) continue;
            edge = elementwise_case(c, dtype, subnormals);
        }
        // The graph is also built in double.
        edge.build = [&op, attrs = c.sample.attrs](Trace& trace, std::span<const Tensor> inputs) {
            DType own = DType::kF32;
            for (const Tensor& t : inputs)
                if (is_floating(t.dtype())) own = t.dtype();
            return apply(op, inputs, in_type(attrs, DType::kF32, own), &trace);
        };
        cases.push_back(std::move(edge));
    }
    return cases;
}

std::vector<const OpDef*> ops_with_edge_cases(bool elementwise_only) {
    std::vector<const OpDef*> ops;
    for (const OpDef* op : all_ops())
        if ((!elementwise_only || op->op_class == OpClass::kElementwise) &&
            !edge_cases_of(*op, DType::kF32).empty())
            ops.push_back(op);
    return ops;
}

Result<Differentiated> differentiate(const EdgeCase& c, DType dtype) {
    Differentiated d;
    Trace trace(c.name);
    std::vector<Tensor> inputs, wrt, outputs, cotangents;
    for (const HostTensor& t : c.usual) {
        const bool is_float = is_floating(t.dtype());
        const Shape shape = c.shapes.empty() ? t.shape() : c.shapes[inputs.size()];
        inputs.push_back(
            trace.input("x" + std::to_string(inputs.size()), shape, is_float ? dtype : t.dtype()));
        if (!is_float) continue;
        d.wrt.push_back(inputs.size() - 1);
        wrt.push_back(inputs.back());
    }
    for (const Tensor& y : c.build(trace, inputs)) {
        if (!y.ok()) return trace.status();
        if (!is_floating(y.dtype())) continue;
        HostTensor& g = d.cotangents.emplace_back(y.dtype(), y.shape().resolve(c.rows));
        // Different ones, as the gradient of a softmax's sum is zero.
        for (int64_t i = 0; i < g.element_count(); ++i)
            g.set(i, c.is_elementwise
                         ? 1
                         : 0.5 + uniform_from_bits(philox_bits(1, 0, static_cast<uint32_t>(i))));
        cotangents.push_back(
            trace.input("g" + std::to_string(outputs.size()), y.shape(), y.dtype()));
        outputs.push_back(y);
    }
    if (outputs.empty()) return d;
    d.output_count = outputs.size();
    for (const Tensor& g : vjp(outputs, cotangents, wrt)) outputs.push_back(g);
    for (size_t i = 0; i < outputs.size(); ++i) trace.output("y" + std::to_string(i), outputs[i]);
    HEARTH_ASSIGN(d.graph, trace.build());
    return d;
}

namespace {

/// The fault of one element of a gradient; none if its overflow is exact.
std::optional<EdgeFault> fault_of(double gradient, double exact, double largest,
                                  bool has_infinity) {
    if (std::isfinite(gradient)) return {};
    const bool overflows = std::abs(exact) > largest && std::isinf(gradient) &&
                           std::signbit(gradient) == std::signbit(exact);
    if (std::isfinite(exact) && overflows) return {};
    return EdgeFault{.gradient = gradient,
                     .exact = exact,
                     .cause = has_infinity          ? EdgeCause::kInfinity
                              : is_nonfinite(exact) ? EdgeCause::kPole
                                                    : EdgeCause::kOverflow};
}

std::string number(double x) {
    return to_string(AttrValue(x));
}

Result<std::vector<HostTensor>> run(const Differentiated& d, std::span<const HostTensor> inputs,
                                    int64_t rows) {
    std::vector<HostTensor> operands(inputs.begin(), inputs.end());
    operands.insert(operands.end(), d.cotangents.begin(), d.cotangents.end());
    return evaluate(d.graph, operands, rows);
}

std::vector<HostTensor> in_double(std::span<const HostTensor> tensors) {
    std::vector<HostTensor> wide;
    for (const HostTensor& t : tensors)
        wide.push_back(is_floating(t.dtype()) ? t.cast(DType::kF64) : t);
    return wide;
}

/// One point of a function that is not element-wise.
struct Point {
    std::string text;
    std::vector<HostTensor> inputs;
};

std::vector<Point> points_of(const EdgeCase& c, std::span<const size_t> wrt, DType dtype) {
    const std::vector<double> edges = edges_of(dtype, large_term(dtype), range_of(dtype).subnormal);
    const auto filled = [](HostTensor t, double value) {
        for (int64_t i = 0; i < t.element_count(); ++i) t.set(i, value);
        return t;
    };
    std::vector<Point> points;
    // Each combination of edges, all elements of an input being equal.
    constexpr size_t kMostInputs = 3;
    if (wrt.size() <= kMostInputs) {
        size_t count = 1;
        for (size_t k = 0; k < wrt.size(); ++k) count *= edges.size();
        for (size_t p = 0; p < count; ++p) {
            Point& point = points.emplace_back(Point{"", c.usual});
            size_t rest = p;
            for (const size_t k : wrt) {
                const double edge = edges[rest % edges.size()];
                rest /= edges.size();
                point.inputs[k] = filled(c.usual[k], edge);
                point.text += "x" + std::to_string(k) + " = " + number(edge) + " ";
            }
        }
    }
    // One input, and one element of it among usual or special ones.
    for (const size_t k : wrt)
        for (const double edge : edges) {
            const std::string name = "x" + std::to_string(k);
            if (wrt.size() > 1) {
                Point& point = points.emplace_back(Point{"only " + name + " = ", c.usual});
                point.inputs[k] = filled(c.usual[k], edge);
                point.text += number(edge);
            }
            const double others[] = {NAN, 0, 1, HUGE_VAL, -HUGE_VAL};
            for (const double other : others) {
                Point& point = points.emplace_back(Point{name + "[0] = " + number(edge), c.usual});
                if (!std::isnan(other)) {
                    point.inputs[k] = filled(c.usual[k], other);
                    point.text += ", the rest " + number(other);
                }
                if (c.usual[k].element_count() > 0) point.inputs[k].set(0, edge);
            }
        }
    return points;
}

bool has_infinity(std::span<const HostTensor> tensors) {
    for (const HostTensor& t : tensors)
        for (int64_t i = 0; i < t.element_count(); ++i)
            if (is_floating(t.dtype()) && std::isinf(t.get(i))) return true;
    return false;
}

bool all_finite(std::span<const HostTensor> tensors) {
    for (const HostTensor& t : tensors)
        for (int64_t i = 0; i < t.element_count(); ++i)
            if (is_nonfinite(t.get(i))) return false;
    return true;
}

}  // namespace

NamedTensors Differentiated::named(std::span<const HostTensor> inputs) const {
    NamedTensors all;
    for (size_t i = 0; i < graph.inputs.size(); ++i)
        all.emplace(graph.values[graph.inputs[i]].name,
                    i < inputs.size() ? inputs[i] : cotangents[i - inputs.size()]);
    return all;
}

Result<std::vector<EdgeFault>> edge_faults_among(const EdgeCase& c, const Differentiated& d,
                                                 const NamedTensors& results) {
    HEARTH_ASSIGN(const Differentiated wide, differentiate(c, DType::kF64));
    HEARTH_ASSIGN(const auto exact, run(wide, in_double(c.usual), c.rows));
    const HostTensor& values = results.at("y0");
    std::vector<EdgeFault> faults;
    for (int64_t i = 0; i < values.element_count(); ++i) {
        if (is_nonfinite(values.get(i))) continue;
        std::vector<double> operands;
        std::string point;
        for (const HostTensor& t : c.usual) {
            operands.push_back(t.get(i));
            point += (point.empty() ? "" : ", ") + number(operands.back());
        }
        const bool is_infinite =
            std::ranges::any_of(operands, [](double x) { return std::isinf(x); });
        for (size_t k = 0; k < d.wrt.size(); ++k) {
            auto fault =
                fault_of(results.at("y" + std::to_string(1 + k)).get(i), exact[1 + k].get(i),
                         range_of(values.dtype()).largest, is_infinite);
            if (!fault) continue;
            fault->input = d.wrt[k];
            fault->point = point;
            fault->operands = operands;
            faults.push_back(std::move(*fault));
        }
    }
    return faults;
}

Result<std::vector<EdgeFault>> edge_faults_of(const EdgeCase& c, DType dtype) {
    std::vector<EdgeFault> faults;
    HEARTH_ASSIGN(const Differentiated d, differentiate(c, dtype));
    if (d.output_count == 0) return faults;
    if (c.is_elementwise) {
        NamedTensors weights;
        HEARTH_ASSIGN(const NamedTensors results, interpret(d.graph, d.named(c.usual), weights));
        return edge_faults_among(c, d, results);
    }
    HEARTH_ASSIGN(const Differentiated wide, differentiate(c, DType::kF64));
    for (const Point& point : points_of(c, d.wrt, dtype)) {
        HEARTH_ASSIGN(const auto results, run(d, point.inputs, c.rows));
        const std::span<const HostTensor> all(results);
        const auto gradients = all.subspan(d.output_count);
        if (!all_finite(all.first(d.output_count)) || all_finite(gradients)) continue;
        HEARTH_ASSIGN(const auto exact, run(wide, in_double(point.inputs), c.rows));
        for (size_t k = 0; k < gradients.size(); ++k)
            for (int64_t i = 0; i < gradients[k].element_count(); ++i) {
                auto fault = fault_of(gradients[k].get(i), exact[d.output_count + k].get(i),
                                      range_of(dtype).largest, has_infinity(point.inputs));
                if (!fault) continue;
                fault->input = d.wrt[k];
                fault->point = point.text;
                faults.push_back(std::move(*fault));
                break;  // one for each input and point
            }
    }
    return faults;
}

namespace {

using enum EdgeCause;
using Operands = std::span<const double>;

bool is_at_zero(Operands x) {
    return x[0] == 0;
}
bool is_at_one(Operands x) {
    return std::abs(x[0]) == 1;
}

constexpr const char* kPoleOfFunction = "infinite slope, in PyTorch as well";
constexpr const char* kInfiniteFactor =
    "0 * inf: the cotangent of one factor is the other one, which is infinite; NaN in PyTorch";
constexpr const char* kInternal =
    "an operator of gradients, on operands that no forward pass gives";
constexpr const char* kLongProduct =
    "the cotangent grows from step to step until it overflows, then meets a zero; as in PyTorch";

constexpr EdgeException kExceptions[] = {
    {"sqrt", kPole, kPoleOfFunction, is_at_zero},
    {"asin", kPole, kPoleOfFunction, is_at_one},
    {"acos", kPole, kPoleOfFunction, is_at_one},
    {"acosh", kPole, kPoleOfFunction, is_at_one},
    {"pow", kPole, "the logarithm of a negative base is NaN, in PyTorch as well",
     [](Operands x) { return x[0] < 0; }},
    {"pow", kPole, kPoleOfFunction, [](Operands x) { return x[0] == 0 && x[1] > 0 && x[1] < 1; }},
    {"pow", kInfinity, "0 * inf or log(inf), as in PyTorch"},
    {"pow", kOverflow, "x^(b - 1) of a subnormal x overflows, in PyTorch as well",
     [](Operands x) { return std::abs(x[0]) < 0x1p-14; }},
    {"prelu", kInfinity, "the slope at zero is the infinite one, in PyTorch as well",
     [](Operands x) { return x[0] == 0 && std::isinf(x[1]); }},
    {"atan2", kInfinity, kInfiniteFactor},
    {"attention", kInfinity, kInfiniteFactor},
    {"attention", kOverflow, "products of cotangent, value and key overflow before they cancel"},
    {"attention_backward_queries", kPole, kInternal},
    {"attention_backward_queries", kInfinity, kInfiniteFactor},
    {"attention_backward_queries", kOverflow, kInternal},
    {"attention_backward_keys", kPole, kInternal},
    {"attention_backward_keys", kInfinity, kInfiniteFactor},
    {"attention_backward_keys", kOverflow, kInternal},
    {"gru_window", kInfinity, kInfiniteFactor},
    {"gru_window", kOverflow, kLongProduct},
    {"gru_window_backward", kOverflow, kInternal},
    {"hash_grid_gradient", kInfinity, kInfiniteFactor},
    {"linear_scan", kOverflow, kLongProduct},
    // Functions.
    {"rnn_cell", kInfinity, kInfiniteFactor},
    {"hinge_loss", kInfinity, kInfiniteFactor},
    {"linear_recurrence", kOverflow, kLongProduct},
    {"discounted_cumsum", kOverflow, kLongProduct},
    {"pow_half", kPole, kPoleOfFunction},
    {"normal_log_prob", kOverflow, "f16 holds half the square of the distance, but not all of it"},
    {"ppo_clip_loss", kPole, "the unclipped ratio overflows; NaN in PyTorch"},
    {"ppo_clip_loss", kInfinity, "the unclipped ratio is infinite; NaN in PyTorch"},
    {"ppo_clip_loss", kOverflow, "the unclipped ratio overflows; NaN in PyTorch"},
    {"game_matmul_add_relu", kInfinity, kInfiniteFactor},
};

}  // namespace

std::span<const EdgeException> edge_exceptions() {
    return kExceptions;
}

const EdgeException* exception_for(std::string_view name, const EdgeFault& fault) {
    for (const EdgeException& e : edge_exceptions())
        if (e.name == name && e.cause == fault.cause &&
            (e.holds == nullptr || e.holds(fault.operands)))
            return &e;
    return nullptr;
}

std::string describe(std::string_view name, const EdgeFault& fault) {
    constexpr const char* kCauses[] = {"pole", "infinite operand", "overflow"};
    return std::string(name) + " at " + fault.point + ": the gradient of x" +
           std::to_string(fault.input) + " is " + number(fault.gradient) + ", in double " +
           number(fault.exact) + " (" + kCauses[static_cast<size_t>(fault.cause)] + ")";
}

}  // namespace hearth::test
