// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// ONNX's RNN, GRU and LSTM, versions 1 to 22, and com.microsoft.DynamicQuantizeLSTM.

#include "compiler/ops/functions/recurrent.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

namespace hearth {

namespace {

using Tensors = std::vector<Tensor>;

// Iterator over the optional constants: each activation that takes one consumes the next.
class Constants {
  public:
    explicit Constants(std::vector<double> values) : values_(std::move(values)) {}
    double next(double fallback) { return at_ < values_.size() ? values_[at_++] : fallback; }

  private:
    std::vector<double> values_;
    size_t at_ = 0;
};

std::optional<RecurrentActivation> activation_named(std::string name, Constants& alphas,
                                                    Constants& betas) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto plain = [](Tensor (*f)(const Tensor&)) -> RecurrentActivation {
        return [f](const Tensor& x) { return f(x); };
    };
    if (name == "tanh") return plain(tanh);
    if (name == "sigmoid") return plain(sigmoid);
    if (name == "relu") return plain(relu);
    if (name == "softsign") return plain(softsign);
    if (name == "softplus") return plain(softplus);
    // The defaults are those of the ONNX operators of these names.
    if (name == "leakyrelu")
        return [a = alphas.next(0.01)](const Tensor& x) { return leaky_relu(x, a); };
    if (name == "elu") return [a = alphas.next(1)](const Tensor& x) { return elu(x, a); };
    if (name == "thresholdedrelu")
        return [a = alphas.next(1)](const Tensor& x) { return where(greater(x, a), x, 0.0); };
    if (name != "affine" && name != "scaledtanh" && name != "hardsigmoid") return {};
    const bool is_hard = name == "hardsigmoid";
    const double a = alphas.next(is_hard ? 0.2 : 1), b = betas.next(is_hard ? 0.5 : 1);
    if (is_hard) return [a, b](const Tensor& x) { return hard_sigmoid(x, a, b); };
    if (name == "scaledtanh") return [a, b](const Tensor& x) { return tanh(x * b) * a; };
    return [a, b](const Tensor& x) { return x * a + b; };
}

class RecurrentImport {
  public:
    /// is_quantized: the weights are integers, [directions, in, gates * hidden], and x and h are
    /// rounded to 8 bits before their products.
    RecurrentImport(OnnxCall& call, RecurrentKind kind, bool is_quantized = false)
        : call_(call), kind_(kind), is_quantized_(is_quantized) {}

    Tensors run() {
        const bool is_batch_first = call_.flag("layout", false);
        Tensor x = call_.in(0);
        if (call_.has_failed()) return {};
        if (x.rank() != 3) return call_.invalid("X is " + to_string(x.shape()));
        if (x.dim(is_batch_first ? 1 : 0).is_batch)
            return call_.unsupported("a sequence along the rows");
        if (is_batch_first) x = swapaxes(x, 0, 1);
        if (!read_directions() || !read_cells()) return {};
        if (is_quantized_) x = dynamically_rounded(x);
        Tensors outputs, last, last_cells;
        for (size_t d = 0; d < directions_.size(); ++d) {
            const RecurrentRun one = run_recurrent(
                cells_[d], weights(d), x, start(d, is_batch_first), lengths(), directions_[d]);
            if (call_.has_failed()) return {};
            outputs.push_back(one.output);
            last.push_back(one.last.h);
            last_cells.push_back(one.last.c);
        }
        // [length, directions, batch, hidden], or batch first.
        const Tensor y = stack(outputs, 1);
        const int64_t axis = is_batch_first ? 1 : 0;
        Tensors results{is_batch_first ? transpose(y, {2, 0, 1, 3}) : y, stack(last, axis)};
        if (kind_ == RecurrentKind::kLstm) results.push_back(stack(last_cells, axis));
        return results;
    }

  private:
    bool read_directions() {
        const std::string text = call_.text("direction", "forward");
        if (text == "forward") directions_ = {false};
        if (text == "reverse") directions_ = {true};
        if (text == "bidirectional") directions_ = {false, true};
        if (directions_.empty()) call_.invalid("its direction is '" + text + "'");
        for (size_t k : {size_t{1}, size_t{2}}) {
            const Tensor w = call_.in(k);
            if (w.ok() &&
                (w.rank() != 3 || w.dim(0) != Dim(static_cast<int64_t>(directions_.size()))))
                call_.invalid("input " + std::to_string(k) + " is " + to_string(w.shape()) +
                              " for " + std::to_string(directions_.size()) + " directions");
        }
        return !call_.has_failed();
    }

    bool read_cells() {
        std::vector<std::string> names = call_.texts("activations");
        Constants alphas(call_.reals("activation_alpha")), betas(call_.reals("activation_beta"));
        const std::vector<std::string> defaults =
            kind_ == RecurrentKind::kSimple ? std::vector<std::string>{"Tanh"}
            : kind_ == RecurrentKind::kGru  ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                            : std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"};
        if (names.empty())
            for (size_t d = 0; d < directions_.size(); ++d)
                names.insert(names.end(), defaults.begin(), defaults.end());
        if (names.size() != defaults.size() * directions_.size())
            return refuse("has " + std::to_string(names.size()) + " activations");
        for (size_t d = 0; d < directions_.size(); ++d) {
            RecurrentCell cell = RecurrentCell::of(kind_);
            cell.activations.clear();
            for (size_t i = 0; i < defaults.size(); ++i) {
                const std::string& name = names[d * defaults.size() + i];
                auto activation = activation_named(name, alphas, betas);
                if (!activation) return refuse("has the activation '" + name + "'");
                cell.activations.push_back(std::move(*activation));
            }
            // Gates are stacked z, r, h (GRU) and i, o, f, c (LSTM).
            if (kind_ == RecurrentKind::kGru) cell.order = {1, 0, 2};
            if (kind_ == RecurrentKind::kLstm) cell.order = {0, 2, 3, 1};
            cell.clip = call_.real("clip", 0);
            cell.reset_after = call_.flag("linear_before_reset", false);
            cell.input_forget = call_.flag("input_forget", false);
            cell.rounds_state = is_quantized_;
            cells_.push_back(std::move(cell));
        }
        return !call_.has_failed();
    }

    bool refuse(const std::string& what) {
        call_.invalid(what);
        return false;
    }

    /// Slice d of a tensor that stacks the directions; empty if the input is absent.
    Tensor of_direction(size_t input, size_t d, int axis = 0) {
        if (!call_.has(input)) return {};
        const auto at = static_cast<int64_t>(d);
        return squeeze(slice(call_.in(input), axis, at, at + 1), {axis});
    }

    /// Weights [gates * hidden, in] of a direction; scale: the input with their scales, which the
    /// zero points follow.
    Tensor weight(size_t input, size_t d, size_t scale) {
        const Tensor w = of_direction(input, d);
        if (!is_quantized_) return w;
        return transpose(
            dequantize_linear(w, of_direction(scale, d), of_direction(scale + 1, d), 1), {1, 0});
    }

    RecurrentWeights weights(size_t d) {
        RecurrentWeights w{weight(1, d, 8), weight(2, d, 10), {}, {}, {}};
        if (call_.has(3)) {
            const Tensor both = of_direction(3, d);
            if (call_.has_failed()) return w;
            const int64_t each = w.input.dim(0).count;
            const Tensors parts = split(both, {each, each}, -1);
            w.input_bias = parts[0];
            w.hidden_bias = parts[1];
        }
        if (kind_ == RecurrentKind::kLstm) w.peepholes = of_direction(7, d);
        return w;
    }

    RecurrentState start(size_t d, bool is_batch_first) {
        const int axis = is_batch_first ? 1 : 0;
        return {of_direction(5, d, axis),
                kind_ == RecurrentKind::kLstm ? of_direction(6, d, axis) : Tensor()};
    }

    Tensor lengths() { return call_.has(4) ? call_.in(4) : Tensor(); }

    OnnxCall& call_;
    RecurrentKind kind_;
    bool is_quantized_;
    std::vector<bool> directions_;  ///< true: reversed
    std::vector<RecurrentCell> cells_;
};

}  // namespace

std::vector<Tensor> import_rnn(OnnxCall& call) {
    return RecurrentImport(call, RecurrentKind::kSimple).run();
}

std::vector<Tensor> import_gru(OnnxCall& call) {
    return RecurrentImport(call, RecurrentKind::kGru).run();
}

std::vector<Tensor> import_lstm(OnnxCall& call) {
    return RecurrentImport(call, RecurrentKind::kLstm).run();
}

// X, W, R, B, sequence_lens, initial_h, initial_c, P, then scale and zero point of W and of R.
std::vector<Tensor> import_dynamic_quantize_lstm(OnnxCall& call) {
    return RecurrentImport(call, RecurrentKind::kLstm, true).run();
}

}  // namespace hearth
