// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Einstein summation as transposes, element-wise products and matrix products. Operands are
// contracted from left to right; a label is summed over as soon as neither a later operand nor the
// result needs it. The notation is that of numpy.einsum and ONNX.

#include "compiler/ops/shared/rules.hpp"

#include <hearth/op/onnx_call.hpp>

#include <algorithm>
#include <cctype>

namespace hearth {

namespace {

using Tensors = std::vector<Tensor>;

// A letter, or a negative number: an axis of the ellipsis, counted from its end.
using Label = int;
using Labels = std::vector<Label>;

struct Equation {
    std::vector<Labels> terms;
    Labels result;
};

bool holds(const Labels& labels, Label label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// Parses one term. The ellipsis stands for the axes of the operand that no letter names.
Result<Labels> read_term(std::string_view text, int ellipsis_rank) {
    Labels labels;
    bool has_ellipsis = false;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
            labels.push_back(c);
        } else if (text.substr(i, 3) == "..." && !has_ellipsis) {
            for (int axis = ellipsis_rank; axis > 0; --axis) labels.push_back(-axis);
            has_ellipsis = true;
            i += 2;
        } else {
            return invalid_argument("'" + std::string(text) + "' is no list of letters");
        }
    }
    return labels;
}

int letters_in(std::string_view text) {
    return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
        return std::isalpha(static_cast<unsigned char>(c)) != 0;
    }));
}

std::vector<std::string_view> split_text(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (size_t at; (at = text.find(separator)) != std::string_view::npos;) {
        parts.push_back(text.substr(0, at));
        text.remove_prefix(at + 1);
    }
    parts.push_back(text);
    return parts;
}

Result<Equation> read_equation(std::string_view text, std::span<const TensorType> operands) {
    std::string packed(text);
    std::erase_if(packed, [](char c) { return c == ' '; });
    const std::string_view all(packed);
    const size_t arrow = all.find("->");
    const auto terms = split_text(all.substr(0, arrow), ',');
    if (terms.size() != operands.size())
        return invalid_argument("'" + packed + "' has " + std::to_string(terms.size()) +
                                " terms for " + std::to_string(operands.size()) + " operands");
    Equation equation;
    int widest = 0;
    for (size_t i = 0; i < terms.size(); ++i) {
        const bool has_ellipsis = terms[i].find("...") != std::string_view::npos;
        const int rank = operands[i].shape.rank(), rest = rank - letters_in(terms[i]);
        if (rest < 0 || (rest > 0 && !has_ellipsis))
            return invalid_argument("term '" + std::string(terms[i]) + "' does not fit " +
                                    to_string(operands[i].shape));
        widest = std::max(widest, rest);
        HEARTH_ASSIGN(Labels labels, read_term(terms[i], rest));
        equation.terms.push_back(std::move(labels));
    }
    if (arrow != std::string_view::npos) {
        HEARTH_ASSIGN(equation.result, read_term(all.substr(arrow + 2), widest));
    } else {
        // Without an explicit result: the ellipsis, then the labels that occur once, in
        // alphabetical order.
        for (int axis = widest; axis > 0; --axis) equation.result.push_back(-axis);
        for (Label label = 'A'; label <= 'z'; ++label) {
            std::ptrdiff_t count = 0;
            for (const Labels& term : equation.terms)
                count += std::count(term.begin(), term.end(), label);
            if (count == 1) equation.result.push_back(label);
        }
    }
    for (size_t i = 0; i < equation.result.size(); ++i) {
        const Label label = equation.result[i];
        const bool is_known = std::any_of(equation.terms.begin(), equation.terms.end(),
                                          [&](const Labels& t) { return holds(t, label); });
        if (!is_known || std::count(equation.result.begin(), equation.result.end(), label) > 1)
            return invalid_argument("the result of '" + packed + "' repeats or invents a label");
    }
    return equation;
}

/// The extent of each label, from the operands that do not broadcast it.
Result<Dim> extent_of(Label label, const Equation& equation, std::span<const TensorType> operands) {
    Dim extent(1);
    for (size_t i = 0; i < operands.size(); ++i)
        for (size_t axis = 0; axis < equation.terms[i].size(); ++axis) {
            const Dim d = operands[i].shape[static_cast<int>(axis)];
            if (equation.terms[i][axis] != label || d.is_one()) continue;
            if (!extent.is_one() && extent != d)
                return invalid_argument("one label has the extents " + to_string(extent) + " and " +
                                        to_string(d));
            extent = d;
        }
    return extent;
}

Status infer_einsum(InferContext& call) {
    HEARTH_ASSIGN(const Equation equation, read_equation(call.attrs.text("equation"), call.inputs));
    Shape shape;
    if (equation.result.size() > kMaxRank) return out_of_range("the result has too many axes");
    for (const Labels& term : equation.terms)
        for (Label label : term) {
            HEARTH_ASSIGN(const Dim extent, extent_of(label, equation, call.inputs));
            if (extent.is_batch && std::count(term.begin(), term.end(), label) > 1)
                return invalid_argument("a diagonal along a symbolic extent");
        }
    for (Label label : equation.result) {
        HEARTH_ASSIGN(const Dim extent, extent_of(label, equation, call.inputs));
        shape.push_back(extent);
    }
    for (const TensorType& t : call.inputs)
        if (t.dtype != call.dtype(0)) return invalid_argument("element types differ");
    HEARTH_TRY(check_shape(shape));
    return call.one(call.dtype(0), shape);
}

/// A tensor with labelled axes.
struct Named {
    Tensor x;
    Labels labels;

    int axis_of(Label label) const {
        return static_cast<int>(std::find(labels.begin(), labels.end(), label) - labels.begin());
    }
    Dim extent(Label label) const { return x.dim(axis_of(label)); }
};

/// Takes the diagonal of repeated labels.
Named with_diagonals(Named n) {
    for (size_t a = 0; a < n.labels.size(); ++a)
        for (size_t b = a + 1; b < n.labels.size(); ++b) {
            if (n.labels[a] != n.labels[b]) continue;
            Axes order;
            for (int i = 0; i < n.x.rank(); ++i)
                if (i != static_cast<int>(a) && i != static_cast<int>(b)) order.push_back(i);
            order.push_back(static_cast<int64_t>(a));
            order.push_back(static_cast<int64_t>(b));
            const int64_t extent =
                std::max(n.x.dim(static_cast<int>(a)).count, n.x.dim(static_cast<int>(b)).count);
            Shape square = transpose(n.x, order).shape();
            square[square.rank() - 2] = square[square.rank() - 1] = Dim(extent);
            const Tensor flat = flatten(expand(transpose(n.x, order), square), -2, -1);
            const Label label = n.labels[a];
            n.x = slice(flat, -1, 0, extent * extent, extent + 1);
            n.labels.erase(n.labels.begin() + static_cast<std::ptrdiff_t>(b));
            n.labels.erase(n.labels.begin() + static_cast<std::ptrdiff_t>(a));
            n.labels.push_back(label);
            return with_diagonals(std::move(n));
        }
    return n;
}

/// Sums over the labels for which `needed` is false.
template <class F>
Named summed(const Named& n, F needed) {
    Named rest;
    Axes axes;
    for (size_t i = 0; i < n.labels.size(); ++i)
        if (needed(n.labels[i]))
            rest.labels.push_back(n.labels[i]);
        else
            axes.push_back(static_cast<int64_t>(i));
    rest.x = axes.empty() ? n.x : sum(n.x, axes);
    return rest;
}

/// Transposes n to this order; labels that n lacks become axes of extent 1.
Tensor arranged(const Named& n, const Labels& order) {
    Axes permutation, added;
    for (size_t i = 0; i < order.size(); ++i)
        if (holds(n.labels, order[i]))
            permutation.push_back(n.axis_of(order[i]));
        else
            added.push_back(static_cast<int64_t>(i));
    bool is_sorted = true;
    for (size_t i = 0; i < permutation.size(); ++i)
        is_sorted = is_sorted && permutation[i] == static_cast<int64_t>(i);
    const Tensor t = is_sorted ? n.x : transpose(n.x, permutation);
    return added.empty() ? t : unsqueeze(t, added);
}

Dim product_of(const Labels& labels, const std::vector<Dim>& extents) {
    Dim total(1);
    for (size_t i = 0; i < labels.size(); ++i)
        total = Dim(total.count * extents[i].count, total.is_batch || extents[i].is_batch);
    return total;
}

Labels joined(std::initializer_list<Labels> lists) {
    Labels all;
    for (const Labels& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
}

/// Contracts a and b: keeps the labels of both, summed over those that are not `needed`.
template <class F>
Named contracted(const Named& a, const Named& b, F needed) {
    Labels batch, left, right, inner;
    for (Label l : a.labels) (!holds(b.labels, l) ? left : needed(l) ? batch : inner).push_back(l);
    for (Label l : b.labels)
        if (!holds(a.labels, l)) right.push_back(l);
    Named result{Tensor(), joined({batch, left, right})};
    if (inner.empty()) {
        result.x = arranged(a, result.labels) * arranged(b, result.labels);
        return result;
    }
    // As matrices [batch, left, inner] and [batch, inner, right]. A shared extent of 1 on one side
    // is broadcast.
    const auto extents = [&](const Labels& labels) {
        std::vector<Dim> dims;
        for (Label l : labels) {
            const bool in_a = holds(a.labels, l), in_b = holds(b.labels, l);
            dims.push_back(in_a && (!in_b || !a.extent(l).is_one()) ? a.extent(l) : b.extent(l));
        }
        return dims;
    };
    const auto as_matrix = [&](const Named& n, const Labels& rows, const Labels& columns) {
        const Labels order = joined({batch, rows, columns});
        Shape whole, shape;
        for (Dim d : extents(order)) whole.push_back(d);
        if (!batch.empty()) shape.push_back(product_of(batch, extents(batch)));
        shape.push_back(product_of(rows, extents(rows)));
        shape.push_back(product_of(columns, extents(columns)));
        return reshape(expand(arranged(n, order), whole), shape);
    };
    const Tensor product =
        matmul(as_matrix(a, left, inner), as_matrix(b, inner, right), false, false);
    Shape shape;
    for (Dim d : extents(result.labels)) shape.push_back(d);
    result.x = reshape(product, shape);
    return result;
}

Tensors decompose_einsum(DecomposeContext& d) {
    std::vector<TensorType> types;
    for (const Tensor& t : d.inputs) types.push_back({t.dtype(), t.shape()});
    const auto equation = read_equation(d.attrs.text("equation"), types);
    if (!equation.ok()) return {fail(d.in(0), equation.status())};  // infer accepted it
    Named total;
    for (size_t i = 0; i < types.size(); ++i) {
        const auto needed = [&](Label l) {
            if (holds(equation->result, l)) return true;
            return std::any_of(equation->terms.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                               equation->terms.end(),
                               [l](const Labels& term) { return holds(term, l); });
        };
        Named next = with_diagonals({d.in(i), equation->terms[i]});
        if (i == 0) {
            total = summed(next, needed);
            continue;
        }
        // Sums over labels of only one operand come first, to keep products small.
        next = summed(next, [&](Label l) { return needed(l) || holds(total.labels, l); });
        total = summed(total, [&](Label l) { return needed(l) || holds(next.labels, l); });
        total = summed(contracted(total, next, needed), needed);
    }
    return {arranged(total, equation->result)};
}

Tensors import_einsum(OnnxCall& call) {
    const Tensors operands = call.all();
    if (call.has_failed()) return {};
    return {einsum(call.text("equation", ""), operands)};
}

void einsum_samples(Samples& s) {
    const auto add = [&s](std::string equation, std::initializer_list<Shape> shapes) {
        s.add(shapes, {{"equation", std::move(equation)}});
    };
    add("->", {{}});
    add("ij->ji", {{3, 5}});
    add("ij->i", {{3, 5}});
    add("ii->i", {{4, 4}});
    add("iji", {{3, 2, 3}});
    add("i,i", {{5}, {5}});
    add("i,j->ji", {{3}, {4}});
    add("bij, bjk -> bik", {{2, 3, 4}, {2, 4, 2}});
    add("ij,kj", {{kBatch, 3}, {4, 3}});
    add("ri,ij->rj", {{kBatch, 3}, {3, 4}});
    add("ri,rj->ij", {{kBatch, 3}, {kBatch, 2}});
    add("...ij,...jk->...ik", {{2, 1, 2, 3}, {3, 3, 2}});
    add("b...,bc->...c", {{2, 3, 2}, {2, 4}});
    add("ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 2}});
    add("abc,cd,b->ad", {{2, 3, 2}, {2, 3}, {3}});
    add("ij,jk->ik", {{3, 1}, {4, 2}});
}

constinit const OpDef kOps[] = {
    {
        .name = "einsum",
        .summary = "the sum of products over the labels of the equation that its result lacks",
        .inputs = {{"operands", TypeClass::kNumber, true}},
        .attrs = {{"equation", AttrType::kString}},
        .op_class = OpClass::kComposite,
        .infer = infer_einsum,
        .decompose = decompose_einsum,
        .onnx = {{"Einsum", 12, import_einsum}},
        .samples = einsum_samples,
        .tolerance = {.f32 = 2e-5},
    },
};

}  // namespace

extern constinit const std::span<const OpDef> einsum_ops{kOps};

Tensor einsum(std::string_view equation, std::span<const Tensor> operands) {
    if (operands.empty() || !operands[0].ok()) return operands.empty() ? Tensor() : operands[0];
    return apply(op("einsum"), operands, {{"equation", std::string(equation)}})[0];
}

Tensor einsum(std::string_view equation, std::initializer_list<Tensor> operands) {
    return einsum(equation, std::span(operands.begin(), operands.size()));
}

}  // namespace hearth
