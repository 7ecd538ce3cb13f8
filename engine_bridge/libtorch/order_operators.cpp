// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Operators for sorting, searching and selecting.

#include "operators.hpp"

namespace hearth::libtorch {

namespace {

/// Stable; NaN is the largest.
at::Tensor sorted_indices(const at::Tensor& x, int64_t axis, bool descending) {
    return std::get<1>(at::sort(x, /*stable=*/true, axis, descending));
}

at::Tensor sort_runs(const Call& c) {
    const int64_t axis = c.integer("axis"), run = c.integer("run"), extent = c.in[0].size(axis);
    std::vector<at::Tensor> runs;
    for (int64_t first = 0; first < extent; first += run) {
        const at::Tensor x = c.in[0].narrow(axis, first, std::min(run, extent - first));
        runs.push_back(sorted_indices(x, axis, c.flag("descending")) + first);
    }
    return at::cat(runs, axis);
}

/// Merges adjacent sorted runs by a stable sort.
at::Tensor merge_runs(const Call& c) {
    const int64_t axis = c.integer("axis"), extent = c.in[0].size(axis);
    const int64_t two_runs = std::min(2 * c.integer("run"), extent);
    std::vector<at::Tensor> merged;
    for (int64_t first = 0; first < extent; first += two_runs) {
        const at::Tensor indices = c.in[1].narrow(axis, first, std::min(two_runs, extent - first));
        const at::Tensor order =
            sorted_indices(c.in[0].gather(axis, indices), axis, c.flag("descending"));
        merged.push_back(indices.gather(axis, order));
    }
    return at::cat(merged, axis);
}

/// Rank of each row in lexicographic order; equal rows in input order.
at::Tensor row_ranks(const Call& c) {
    const at::Tensor here = c.in[0].unsqueeze(1), other = c.in[0].unsqueeze(0);
    const at::Tensor column = here.ne(other).to(at::kLong).argmax(-1, true);
    const List all{here.size(0), here.size(0), here.size(2)};
    const at::Tensor own = here.expand(all).gather(-1, column).squeeze(-1);
    const at::Tensor theirs = other.expand(all).gather(-1, column).squeeze(-1);
    const at::Tensor number = at::arange(here.size(0), at::kLong);
    const at::Tensor is_earlier = number.unsqueeze(0).lt(number.unsqueeze(1));
    return theirs.lt(own).logical_or(theirs.eq(own).logical_and(is_earlier)).sum(1);
}

/// Converts boxes to low and high corners: [..., 2] each.
std::pair<at::Tensor, at::Tensor> corners(const at::Tensor& boxes, bool is_centered) {
    const at::Tensor a = boxes.narrow(-1, 0, 2), b = boxes.narrow(-1, 2, 2);
    if (is_centered) return {a - b / 2, a + b / 2};
    return {at::minimum(a, b), at::maximum(a, b)};
}

at::Tensor nms(const Call& c) {
    const int64_t count = c.integer("count");
    const auto [low, high] = corners(c.in[0].to(at::kDouble), c.flag("centered"));
    const at::Tensor area = (high - low).prod(-1);
    at::Tensor found = at::full(c.out_shape(), -1, at::kLong);
    for (int64_t image = 0; image < c.in[1].size(0); ++image)
        for (int64_t kind = 0; kind < c.in[1].size(1); ++kind) {
            const at::Tensor scores = c.in[1][image][kind];
            at::Tensor is_left =
                c.flag("has_score") ? scores.gt(c.real("score")) : at::ones_like(scores, at::kBool);
            const at::Tensor order = sorted_indices(scores, 0, true);
            for (int64_t kept = 0; kept < count; ++kept) {
                const at::Tensor candidates = is_left.index_select(0, order).nonzero();
                if (candidates.size(0) == 0) break;
                const int64_t best = order[candidates[0][0].item<int64_t>()].item<int64_t>();
                found[image][kind][kept] = best;
                const at::Tensor common = (at::minimum(high[image], high[image][best]) -
                                           at::maximum(low[image], low[image][best]))
                                              .clamp_min(0)
                                              .prod(-1);
                const at::Tensor all = area[image] + area[image][best] - common;
                const at::Tensor overlap = at::where(all.gt(0), common / all, at::zeros_like(all));
                is_left = is_left.logical_and(overlap.le(c.real("overlap")));
                is_left[best] = false;
            }
        }
    return found;
}

}  // namespace

void add_order_rules(Rules& rules) {
    rules["argsort"] = [](const Call& c) {
        return sorted_indices(c.in[0], c.integer("axis"), c.flag("descending"));
    };
    rules["sort_runs"] = sort_runs;
    rules["merge_runs"] = merge_runs;
    rules["search_left"] = [](const Call& c) { return at::searchsorted(c.in[0], c.in[1]); };
    rules["search_right"] = [](const Call& c) {
        return at::searchsorted(c.in[0], c.in[1], /*out_int32=*/false, /*right=*/true);
    };
    rules["row_ranks"] = row_ranks;
    rules["nms"] = nms;
}

}  // namespace hearth::libtorch
