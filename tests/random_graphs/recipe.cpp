// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "random_graphs/recipe.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/grad.hpp>
#include <hearth/ops.hpp>

#include <algorithm>
#include <numeric>

namespace hearth::test {

namespace {

constexpr int64_t kMostElements = 2048;  ///< of any tensor, so that the interpreter stays quick

bool is_small(const Shape& shape) {
    return shape.element_count(8) <= kMostElements;
}

/// Samples that a graph of any number of rows from three on can hold.
std::vector<OpCase> usable_cases() {
    auto usable_type = [](const TensorType& type) {
        const bool has_multiples = std::any_of(type.shape.dims().begin(), type.shape.dims().end(),
                                               [](Dim d) { return d.is_batch && d.count != 1; });
        return is_small(type.shape) && !has_multiples && type.shape.element_count(3) > 0 &&
               type.dtype != DType::kF64;
    };
    // The rounding of numbers so large is more than the operator's own period.
    auto is_moderate = [](const OpCase& c) {
        return c.sample.high < 1e5 || !is_floating(c.sample.inputs[0].dtype);
    };
    std::vector<OpCase> cases;
    for (const OpDef* op : all_ops()) {
        std::vector<OpCase> candidates = cases_of(*op);
        // Every type that the operator takes.
        for (OpCase& c : typed_cases_of(*op)) candidates.push_back(std::move(c));
        for (const OpCase& c : candidates)
            if (runs_on_device(c) && is_moderate(c) &&
                std::all_of(c.sample.inputs.begin(), c.sample.inputs.end(), usable_type))
                cases.push_back(c);
        for (OpCase& c : empty_cases_of(*op))
            if (runs_on_device(c)) cases.push_back(std::move(c));
    }
    return cases;
}

bool is_empty(const TensorType& type) {
    return type.shape.element_count(3) == 0;
}

class Cook {
  public:
    explicit Cook(const Recipe& recipe) : recipe_(recipe), trace_(name()) {
        variant_.rows = recipe.rows;
        variant_.text = "graph " + std::to_string(recipe.seed);
        pool_.push_back(input({kBatch, 5}, DType::kF32, -2, 2));
        pool_.push_back(input({4, 3}, DType::kF32, -2, 2));
        pool_.push_back(trace_.param(name() + ".w", {6}, Init::uniform(-1, 1)));
    }

    Result<Variant> run() {
        for (const RecipeStep& step : recipe_.steps) take(step);
        finish();
        HEARTH_ASSIGN(variant_.graph, trace_.build());
        return std::move(variant_);
    }

  private:
    std::string name() const { return "g" + std::to_string(recipe_.seed); }

    Tensor input(const Shape& shape, DType dtype, double low, double high) {
        const std::string text = name() + ".x" + std::to_string(variant_.inputs.size());
        OpCase c;
        static constexpr OpDef kNamed{.name = "random_graph"};
        c.op = &kNamed;
        c.index = recipe_.seed * 64 + variant_.inputs.size();
        c.sample.inputs = {{dtype, shape}};
        c.sample.low = low;
        c.sample.high = high;
        c.sample.batch_size = recipe_.rows;
        variant_.inputs[text] = make_inputs(c)[0];
        const Tensor x = trace_.input(text, shape, dtype);
        if (is_floating(dtype)) leaves_.push_back(x);
        return x;
    }

    const Tensor& pick(uint32_t choice) const { return pool_[choice % pool_.size()]; }

    /// `t` as a tensor of this shape, whatever it was.
    Tensor fit(Tensor t, const Shape& shape) {
        if (t.shape() == shape) return t;
        const bool has_rows = t.rank() > 0 && t.dim(0).is_batch;
        t = flatten(has_rows ? mean(t, {0}) : t);
        if (t.rank() == 0) t = unsqueeze(t, {0});
        Shape fixed = shape;
        bool wants_rows = false;
        for (int i = 0; i < fixed.rank(); ++i) {
            if (!fixed[i].is_batch) continue;
            fixed[i] = Dim(1);
            wants_rows = true;
        }
        const int64_t count = fixed.element_count(1), have = t.dim(0).count;
        const std::vector<Tensor> copies(static_cast<size_t>((count + have - 1) / have), t);
        if (copies.size() > 1) t = concat(copies, 0);
        t = reshape(count == t.dim(0).count ? t : slice(t, 0, 0, count), fixed);
        if (!wants_rows) return t;
        Shape rows;
        for (const Dim extent : shape.dims()) rows.push_back(extent.is_batch ? kBatch : Dim(1));
        return t + reshape(slice(pool_[0], 1, 0, 1), rows);
    }

    void keep(const Tensor& t) {
        if (t.ok() && is_floating(t.dtype()) && t.dtype() == DType::kF32 && is_small(t.shape()) &&
            t.shape().element_count(3) > 0 && rows_lead(t.shape()))
            pool_.push_back(t);
    }

    static bool rows_lead(const Shape& shape) {
        for (int i = 0; i < shape.rank(); ++i)
            if (shape[i].is_batch && (i > 0 || shape[i].count != 1)) return false;
        return true;
    }

    void take(const RecipeStep& step) {
        const auto& c = step.choices;
        const Tensor x = pick(c[1]);
        switch (c[0] % 10) {
            case 0:
            case 1:
            case 2:
                return record(c);
            case 3:
            case 4:
                return keep(binary(x, pick(c[2]), c[3]));
            case 5:
                return keep(unary(x, c[3]));
            case 6:
                return keep(reduction(x, c[2], c[3]));
            case 7:
                return keep(view(x, c[2], c[3]));
            case 8:
                return c[3] % 4 == 0 ? integer_product(c) : keep(product(x, c[2]));
            default:
                return update(x, c[3]);
        }
    }

    void record(const std::array<uint32_t, 6>& c) {
        static const std::vector<OpCase> kCases = usable_cases();
        const OpCase& chosen = kCases[c[1] % kCases.size()];
        const Sample& s = chosen.sample;
        const bool is_real = std::any_of(s.inputs.begin(), s.inputs.end(), [](const TensorType& t) {
            return t.dtype == DType::kF32;
        });
        const bool has_none = std::any_of(s.inputs.begin(), s.inputs.end(), is_empty);
        std::vector<Tensor> operands;
        for (const TensorType& type : s.inputs) {
            const uint32_t choice = c[2 + operands.size() % 4];
            if (type.dtype != DType::kF32 || has_none)
                operands.push_back(input(type.shape, type.dtype, s.low, s.high));
            else
                operands.push_back(sigmoid(fit(pick(choice), type.shape)) * (s.high - s.low) +
                                   s.low);
        }
        for (const Tensor& y : apply(*chosen.op, operands, s.attrs, &trace_)) {
            if (!y.ok() || trace_.status().ok() == false) break;
            if (is_real || is_floating(y.dtype())) keep(y);
            if (!is_floating(y.dtype()) && is_small(y.shape()) && y.shape().element_count(3) > 0)
                others_.push_back(y);
        }
    }

    Tensor binary(const Tensor& a, const Tensor& other, uint32_t choice) {
        Tensor b = fit(other, a.shape());
        if (choice / 8 % 4 == 0 && b.rank() > 0) b = mean(b, {-1}, true);
        switch (choice % 8) {
            case 0:
                return a - b;
            case 1:
                return a * tanh(b);
            case 2:
                return maximum(a, b);
            case 3:
                return minimum(a, b);
            case 4:
                return a / (b * b + 1.0);
            case 5:
                return where(less(a, b), a, b * 0.5);
            default:
                return a + b;
        }
    }

    static Tensor unary(const Tensor& x, uint32_t choice) {
        Tensor (*const kFunctions[])(const Tensor&) = {tanh, sigmoid,  sin,    relu,     abs,
                                                       gelu, softplus, square, softsign, identity};
        return kFunctions[choice % std::size(kFunctions)](x);
    }

    static Tensor reduction(const Tensor& x, uint32_t axis, uint32_t choice) {
        if (x.rank() == 0) return x * 0.5;
        const Axes axes{static_cast<int64_t>(axis % static_cast<uint32_t>(x.rank()))};
        const bool keep_dims = choice / 8 % 2 == 0;
        switch (choice % 6) {
            case 0:
                return max(x, axes, keep_dims);
            case 1:
                return softmax(x, axes[0]);
            case 2:
                return x - mean(x, axes, true);
            case 3:
                return logsumexp(x, axes, keep_dims);
            case 4:
                return sum(x, axes, keep_dims) * 0.25;
            default:
                return mean(x, axes, keep_dims);
        }
    }

    static Tensor view(const Tensor& x, uint32_t a, uint32_t choice) {
        if (x.rank() == 0) return unsqueeze(x, {0});
        const int64_t axis = static_cast<int64_t>(a % static_cast<uint32_t>(x.rank()));
        const bool is_fixed = !x.shape()[static_cast<int>(axis)].is_batch;
        const int64_t count = x.shape()[static_cast<int>(axis)].count;
        switch (choice % 7) {
            case 0:
                return x.shape()[0].is_batch ? x : transpose(x);
            case 1:
                return is_fixed ? slice(x, axis, a / 8 % 2, count, 1 + a / 16 % 2) : x;
            case 2:
                return flip(x, {axis});
            case 3:
                return is_fixed ? concat({x, tanh(x)}, axis) : x;
            case 4:
                return x.rank() > 2 ? flatten(x, 1) : x;
            case 5:
                return x.rank() < kMaxRank ? unsqueeze(x, {axis + 1}) : x;
            default:
                return is_fixed ? pad(x, padding(x, axis, 1), padding(x, axis, a / 8 % 2)) : x;
        }
    }

    static std::vector<int64_t> padding(const Tensor& x, int64_t axis, int64_t count) {
        std::vector<int64_t> widths(static_cast<size_t>(x.rank()));
        widths[static_cast<size_t>(axis)] = count;
        return widths;
    }

    Tensor product(const Tensor& x, uint32_t choice) {
        if (x.rank() < 1 || x.dim(-1).is_batch) return x;
        const int64_t in = x.dim(-1).count, out = 1 + choice % 9;
        const Tensor w =
            trace_.param(name() + ".w" + std::to_string(in) + "x" + std::to_string(out), {out, in},
                         Init::uniform(-1, 1));
        const Tensor b =
            trace_.param(name() + ".b" + std::to_string(out), {out}, Init::uniform(-1, 1));
        return linear(x, w, choice / 16 % 2 == 0 ? b : Tensor()) * 0.5;
    }

    /// A product of integers of some type, with something behind it.
    void integer_product(const std::array<uint32_t, 6>& c) {
        constexpr DType kTypes[] = {DType::kI32, DType::kI16, DType::kI8,
                                    DType::kU32, DType::kU16, DType::kU8};
        const DType dtype = kTypes[c[2] % std::size(kTypes)];
        const int64_t inner = 1 + c[4] % 40, columns = 1 + c[5] % 9;
        const Tensor a = input({kBatch, inner}, dtype, -9, 9),
                     b = input({inner, columns}, dtype, -9, 9);
        const Tensor y = matmul(a, b);
        const Tensor bias = input({columns}, dtype, -9, 9);
        switch (c[1] % 6) {
            case 0:
                return others_.push_back(y);
            case 1:
                return others_.push_back(y * bias + bias);
            case 2:
                return others_.push_back(maximum(y, bias));
            case 3:
                return others_.push_back(less(y, bias));
            case 4:
                return others_.push_back(where(less(y, bias), y - bias, bias));
            default:
                return keep(tanh(cast(y, DType::kF32) * 0.01));
        }
    }

    void update(const Tensor& x, uint32_t choice) {
        if (x.rank() > 0 && x.dim(0).is_batch) return;
        const Tensor held = trace_.state(name() + ".s" + std::to_string(updates_++), x.shape(),
                                         Init::constant(0.5));
        trace_.assign(held, choice % 2 == 0 ? held * 0.5 + x : x);
        keep(held + x);
    }

    void finish() {
        Tensor loss;
        // The latest are the deepest; every tensor before them may still be stored or not.
        const size_t first = pool_.size() > 6 ? pool_.size() - 3 : 2;
        for (size_t i = first; i < pool_.size(); ++i) {
            trace_.output(name() + ".y" + std::to_string(i), pool_[i]);
            const Tensor term = mean(tanh(pool_[i]));
            loss = loss.ok() ? loss + term : term;
        }
        for (size_t i = 0; i < others_.size(); ++i)
            if (rows_lead(others_[i].shape()))
                trace_.output(name() + ".i" + std::to_string(i), others_[i]);
        if (!recipe_.with_gradient || !trace_.status().ok()) return;
        std::vector<Tensor> wrt = leaves_;
        const std::vector<Tensor> params = trace_.params();
        wrt.insert(wrt.end(), params.begin(), params.end());
        const std::vector<Tensor> gradients = grad(loss, wrt);
        for (size_t i = 0; i < gradients.size(); ++i)
            trace_.output(name() + ".d" + std::to_string(i), gradients[i]);
    }

    const Recipe& recipe_;
    Trace trace_;
    Variant variant_;
    std::vector<Tensor> pool_;    ///< f32 tensors to go on from
    std::vector<Tensor> others_;  ///< integers and bools, looked at and not used
    std::vector<Tensor> leaves_;
    int updates_ = 0;
};

}  // namespace

Recipe make_recipe(uint64_t seed) {
    const uint64_t key = stream_key("random_graph", seed);
    uint32_t drawn = 0;
    auto draw = [&] { return philox_bits(key, 1, drawn++); };
    Recipe recipe;
    recipe.seed = seed;
    recipe.rows = 3 + draw() % 5;
    recipe.with_gradient = draw() % 2 == 0;
    recipe.steps.resize(2 + draw() % 7);
    for (RecipeStep& step : recipe.steps)
        for (uint32_t& choice : step.choices) choice = draw();
    return recipe;
}

Result<Variant> follow(const Recipe& recipe) {
    Result<Variant> made = Cook(recipe).run();
    if (made.ok() || !recipe.with_gradient) return made;
    // An operator without gradient lies between: the graph itself is still worth running.
    Recipe forward = recipe;
    forward.with_gradient = false;
    return Cook(forward).run();
}

Recipe shrink(Recipe recipe, const std::function<bool(const Recipe&)>& fails) {
    for (size_t chunk = recipe.steps.size(); chunk > 0; chunk /= 2) {
        for (size_t first = 0; first + chunk <= recipe.steps.size();) {
            Recipe shorter = recipe;
            const auto at = shorter.steps.begin() + static_cast<ptrdiff_t>(first);
            shorter.steps.erase(at, at + static_cast<ptrdiff_t>(chunk));
            if (fails(shorter))
                recipe = std::move(shorter);
            else
                ++first;
        }
    }
    Recipe forward = recipe;
    forward.with_gradient = false;
    return fails(forward) ? forward : recipe;
}

}  // namespace hearth::test
