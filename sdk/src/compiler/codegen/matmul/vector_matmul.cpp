// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Matrix product of floats that lie in memory as they are read: both operands are loaded four elements at a time, and
// the next slices while the present ones are multiplied.
//
// Each workgroup computes a BM x BN tile in slices of BK; each thread keeps TM x TN sums, in blocks of four rows by four
// columns.  Per slice element a thread reads (TM + TN) / 4 vectors of shared memory for TM * TN multiply-adds.  f32
// accumulation in order of k: deterministic.
//
// Split-K within the workgroup: where there are few tiles, `split` threads share each one's sums.  Each takes its
// stretch of every slice, and they add up through shared memory, in the order of the stretches: beside the slices, or in
// their place (sums_replace_slices()), which takes a barrier and less memory.
//
// With two stages in shared memory the next slices are written beside the present ones, which saves a barrier.  Subgroup
// barriers keep compilers from loading only when it is needed, and from writing before all has been read.  Tiles tried:
// docs/design/0010-matrix-cores.md.

#include "compiler/codegen/matmul/matmul_body.hpp"
#include "compiler/codegen/matmul/matmul_writers.hpp"

#include <algorithm>

namespace hearth {

namespace {

class VectorMatmul : MatmulBody {
  public:
    VectorMatmul(const KernelTask& task, const MatmulTile& tile)
        : MatmulBody(task, tile), threads_m_(tile.bm / tile.tm), threads_n_(tile.bn / tile.tn) {}

    KernelDraft run() {
        declare_workgroup();
        declare_shared();
        open_tile();
        const int part = threads_m_ * threads_n_;
        stretch_ = w_.let("stretch", thread_ / part);
        thread_m_ = w_.let("thread_m", thread_ % part / threads_n_);
        thread_n_ = w_.let("thread_n", thread_ % threads_n_);
        const int fours = tile_.tm * tile_.tn / 4;
        sums_ = fours_array("sums", fours);
        const Expr s = w_.unrolled_for_("s", fours);
        w_.assign(body_->element(sums_, s), four_zeros());
        w_.end();
        for (size_t input = 0; input < 2; ++input)
            next_[input] = fours_array(input == 0 ? "next_a" : "next_b", loads(input));
        multiply();
        if (tile_.split > 1)
            store_sums_of_stretches();
        else
            store_sums();
        return finish();
    }

  private:
    int extent(size_t input) const { return input == 0 ? tile_.bm : tile_.bn; }
    /// Of shared memory from an element along k to the next: one column of padding, for fewer bank conflicts.
    int stride(size_t input) const { return extent(input) / 4 + 1; }
    int slices_size(size_t input) const { return tile_.stages * tile_.bk * stride(input); }
    /// Fours of a slice that each thread loads.
    int loads(size_t input) const {
        return extent(input) * tile_.bk / 4 / static_cast<int>(body_->threads);
    }

    Expr fours_array(const char* name, int length) {
        return w_.declare_chunks(name, Chunk::kFour, static_cast<uint32_t>(length));
    }
    Expr shared(const char* name, int length) {
        return body_->global(name, LocalKind::kShared, ScalarType::kF32,
                             static_cast<uint32_t>(length), Chunk::kFour);
    }

    void declare_shared() {
        const int all_sums = tile_.split * tile_.bm * tile_.bn / 4;
        replaces_ = sums_replace_slices(tile_, options_.caps);
        if (replaces_) {
            const int slices = slices_size(0) + slices_size(1);
            slices_[0] = slices_[1] = of_stretch_ = shared("memory", std::max(slices, all_sums));
            first_[1] = slices_size(0);
            return;
        }
        slices_[0] = shared("tile_a", slices_size(0));
        slices_[1] = shared("tile_b", slices_size(1));
        if (tile_.split > 1) of_stretch_ = shared("of_stretch", all_sums);
    }

    Expr slice_element(size_t input, Expr at) {
        return body_->element(slices_[input], first_[input] == 0 ? at : at + first_[input]);
    }

    // ------------------------------------------------------------------------ the product

    void multiply() {
        fetch_slices(k_first_);
        put_slices(0);
        w_.barrier();
        const Expr has_more = w_.let("has_more", k_end_ - k_first_ > tile_.bk);
        // Fetching the last slices once more costs less than asking whether there are others.
        const Expr rest = body_->operation(ScalarOp::kMax, k_end_ - k_first_ - 1, index(0));
        const Expr last = w_.let("last", k_first_ + rest / tile_.bk * tile_.bk);
        const Expr k0 = w_.for_(
            "k0", k_first_, [&](Expr at) { return at < k_end_; }, index(tile_.stages * tile_.bk));
        for (int stage = 0; stage < tile_.stages; ++stage) {
            const Expr k = w_.let("k", k0 + stage * tile_.bk);
            w_.if_(has_more);
            fetch_slices(lesser(k + tile_.bk, last));
            w_.end();
            w_.subgroup_barrier();
            multiply_slices(stage);
            w_.if_(k < last);
            if (tile_.stages == 1)
                w_.barrier();
            else
                w_.subgroup_barrier();
            put_slices((stage + 1) % tile_.stages);
            w_.barrier();
        }
        end(tile_.stages + 1);
    }

    /// A loop over the fours that the thread loads, and the first element of each.
    struct Four {
        Expr i, e, k, other;  ///< other: m or n, in the tile
    };
    Four open_fours(size_t input) {
        Four four;
        four.i = w_.unrolled_for_("i", loads(input));
        four.e = w_.let("e", thread_ + four.i * static_cast<int64_t>(body_->threads));
        const int along_k = tile_.bk / 4, along_other = extent(input) / 4;
        const bool is_along_k = is_k_contiguous(input);
        four.k = w_.let("in_k", is_along_k ? four.e % along_k * 4 : four.e / along_other);
        four.other = w_.let("in_tile", is_along_k ? four.e / along_k : four.e % along_other * 4);
        return four;
    }

    void fetch_slices(Expr from) {
        const Expr k0 = w_.let("from", from);
        for (size_t input = 0; input < 2; ++input) {
            const Four four = open_fours(input);
            const Expr k = w_.let("k", k0 + four.k);
            const Expr at =
                w_.let(input == 0 ? "m" : "n", (input == 0 ? first_m_ : first_n_) + four.other);
            const Expr inside =
                all_of({input == 0 ? is_inside_m(at) : is_inside_n(at), is_inside_k(k)});
            const Expr element = read_where(inside, four_zeros(), [&](Expr to) {
                read_fours(input, input == 0 ? at : k, input == 0 ? k : at, {&to, 1});
            });
            w_.assign(body_->element(next_[input], four.i), element);
            w_.end();
        }
    }

    void put_slices(int stage) {
        for (size_t input = 0; input < 2; ++input) {
            const Four four = open_fours(input);
            const Expr fetched = body_->element(next_[input], four.i);
            const int to = stage * tile_.bk * stride(input);
            if (is_k_contiguous(input)) {
                const Expr j = w_.unrolled_for_("j", 4);
                const Expr at = (four.k + j) * stride(input) + four.other / 4 + to;
                w_.assign(body_->chunk_element(slice_element(input, at), four.other % 4),
                          body_->chunk_element(fetched, j));
                w_.end();
            } else {
                w_.assign(slice_element(input, four.k * stride(input) + four.other / 4 + to),
                          fetched);
            }
            w_.end();
        }
    }

    void multiply_slices(int stage) {
        const int depth = tile_.bk / tile_.split, rows = tile_.tm / 4, columns = tile_.tn / 4;
        const Expr first = w_.let("first_k", stretch_ * depth + stage * tile_.bk);
        const Expr a = fours_array("a", 2 * rows), b = fours_array("b", 2 * columns);
        const Expr from_a = w_.let("from_a", first * stride(0) + thread_m_);
        const Expr from_b = w_.let("from_b", first * stride(1) + thread_n_);
        const Expr k = w_.for_("k", index(-1), [&](Expr at) { return at < depth; });
        w_.keep_last_unrolled();
        // The elements after these, while these are multiplied.
        const Expr now = w_.let("now", k & 1), next = w_.let("next", index(1) - now);
        w_.if_(k + 1 < depth);
        Expr i = w_.unrolled_for_("i", rows);
        w_.assign(body_->element(a, next * rows + i),
                  slice_element(0, from_a + (k + 1) * stride(0) + i * threads_m_));
        w_.end();
        Expr j = w_.unrolled_for_("j", columns);
        w_.assign(body_->element(b, next * columns + j),
                  slice_element(1, from_b + (k + 1) * stride(1) + j * threads_n_));
        end(2);
        w_.if_(k >= index(0));
        i = w_.unrolled_for_("i", tile_.tm);
        j = w_.unrolled_for_("j", columns);
        const Expr factor = body_->chunk_element(body_->element(a, now * rows + i / 4), i % 4);
        add_product(body_->element(sums_, i * columns + j), body_->fill(Chunk::kFour, factor),
                    body_->element(b, now * columns + j));
        end(4);
    }

    // ------------------------------------------------------------------------ results

    /// The row of the tile that holds sums [i][...] of the thread, and the first of four columns.
    Expr row_of(Expr i) { return (thread_m_ + i / 4 * threads_m_) * 4 + i % 4; }
    Expr four_of(Expr j) { return thread_n_ + j * threads_n_; }

    template <class F>
    void for_each_four(const F& f) {
        const Expr i = w_.unrolled_for_("i", tile_.tm), j = w_.unrolled_for_("j", tile_.tn / 4);
        f(i, j, body_->element(sums_, i * (tile_.tn / 4) + j));
        end(2);
    }

    void store_inside(Expr row, Expr column, Expr sums) {
        const Expr m = w_.let("m", row), n = w_.let("n", column);
        const Expr inside = all_of({is_inside_m(m), is_inside_n(n)});
        if (inside) w_.if_(inside);
        store_four(m, n, sums);
        if (inside) w_.end();
    }

    void store_sums() {
        for_each_four([&](Expr i, Expr j, Expr sums) {
            store_inside(first_m_ + row_of(i), first_n_ + four_of(j) * 4, sums);
        });
    }

    void store_sums_of_stretches() {
        const int fours = tile_.bn / 4, size = tile_.bm * fours;
        if (replaces_) w_.barrier();
        for_each_four([&](Expr i, Expr j, Expr sums) {
            w_.assign(body_->element(of_stretch_, stretch_ * size + row_of(i) * fours + four_of(j)),
                      sums);
        });
        w_.barrier();
        const Expr e = share_out("e", size);
        const Expr all = variable("all", body_->element(of_stretch_, e));
        const Expr s = w_.for_("s", index(1), [&](Expr at) { return at < tile_.split; });
        w_.accumulate(all, body_->element(of_stretch_, s * size + e));
        w_.end();
        store_inside(first_m_ + e / fours, first_n_ + e % fours * 4, all);
        w_.end();
    }

    const int threads_m_,
        threads_n_;  ///< of a part of the workgroup, which has all sums of the tile
    bool replaces_ = false;
    int first_[2] = {0, 0};  ///< of slices in their shared arrays
    Expr slices_[2], of_stretch_, next_[2], sums_, stretch_, thread_m_, thread_n_;
};

}  // namespace

KernelDraft vector_matmul(const KernelTask& task, const MatmulTile& tile) {
    return VectorMatmul(task, tile).run();
}

}  // namespace hearth
