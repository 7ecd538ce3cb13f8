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
// Pairs of f16: where the device multiplies and adds them up in one instruction (MatmulProblem::can_dot_halves), a slice
// in shared memory is words of two elements along k, so that half of the loads, bytes and instructions remain.  Operands
// are loaded eight elements at a time, each by half of the workgroup: indices are clamped, and words beyond the last k are
// zeros.
// Sums are f32, rounded once or twice for each pair: |error| <= k * 2^-23 * sum |a * b|, where a device truncates.
//
// With two stages in shared memory the next slices are written beside the present ones, which saves a barrier.  Subgroup
// barriers keep compilers from loading only when it is needed, and from writing before all has been read.  Tiles tried:
// docs/design/0010-matrix-cores.md.

#include "compiler/codegen/matmul/matmul_body.hpp"
#include "compiler/codegen/matmul/matmul_writers.hpp"
#include "compiler/codegen/shared/extents.hpp"

#include <algorithm>
#include <array>
#include <string>

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
        if (is_in_pairs_)
            next_[0] = fours_array("next", std::max(loads(0), loads(1)), ScalarType::kU32);
        for (size_t input = 0; input < 2 && !is_in_pairs_; ++input)
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
    /// Steps along k of a slice: elements, or pairs.
    int depth() const { return is_in_pairs_ ? tile_.bk / 2 : tile_.bk; }
    int slices_size(size_t input) const { return tile_.stages * depth() * stride(input); }
    /// Fours of a slice that each thread loads; of pairs, fours of words that each of half of the threads loads.
    int loads(size_t input) const {
        const int fours = extent(input) * tile_.bk / (is_in_pairs_ ? 8 : 4);
        return fours / static_cast<int>(is_in_pairs_ ? body_->threads / 2 : body_->threads);
    }

    Expr fours_array(const char* name, int length, ScalarType type = ScalarType::kF32) {
        return w_.declare_chunks(name, Chunk::kFour, static_cast<uint32_t>(length), type);
    }
    ScalarType element_type() const { return is_in_pairs_ ? ScalarType::kU32 : ScalarType::kF32; }
    /// Fours of elements, or of pairs.
    Expr elements_array(const char* name, int length) {
        return fours_array(name, length, element_type());
    }
    Expr shared(const char* name, int length, ScalarType type) {
        return body_->global(name, LocalKind::kShared, type, static_cast<uint32_t>(length),
                             Chunk::kFour);
    }

    void declare_shared() {
        const int all_sums = tile_.split * tile_.bm * tile_.bn / 4;
        const ScalarType type = element_type();
        replaces_ = sums_replace_slices(tile_, options_.caps);
        if (replaces_) {
            const int slices = slices_size(0) + slices_size(1);
            slices_[0] = slices_[1] = of_stretch_ =
                shared("memory", std::max(slices, all_sums), type);
            first_[1] = slices_size(0);
            return;
        }
        slices_[0] = shared("tile_a", slices_size(0), type);
        slices_[1] = shared("tile_b", slices_size(1), type);
        if (tile_.split > 1) of_stretch_ = shared("of_stretch", all_sums, ScalarType::kF32);
    }

    Expr slice_element(size_t input, Expr at) {
        return body_->element(slices_[input], first_[input] == 0 ? at : at + first_[input]);
    }

    // ------------------------------------------------------------------------ the product

    void multiply() {
        fetch_slices(k_first_);
        put_slices(0, k_first_);
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
            put_slices((stage + 1) % tile_.stages, k + tile_.bk);
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
        if (is_in_pairs_) return fetch_pairs(k0);
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

    void put_slices(int stage, Expr from) {
        if (is_in_pairs_) return put_pairs(stage, from);
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

    // Pairs along k of two operands.  Half of the workgroup loads the one, half the other.  Each vector of eight elements
    // is four pairs, or, where the operand lies along the other axis, makes eight pairs with the vector behind it along k.

    template <class Load>
    void for_each_half(const Load& load) {
        const auto half = static_cast<int64_t>(body_->threads) / 2;
        w_.if_(thread_ < half);
        load(0, thread_);
        w_.end();
        w_.else_();
        load(1, thread_ - half);
        w_.end();
    }

    struct Eight {
        Expr i, k, other;
    };
    /// A loop over the vectors, or pairs of them, that the thread loads of an operand.
    Eight open_eights(size_t input, Expr thread) {
        const bool is_along_k = is_k_contiguous(input);
        Eight eight;
        eight.i = w_.unrolled_for_("i", is_along_k ? loads(input) : loads(input) / 2);
        const Expr e = w_.let("e", thread + eight.i * (static_cast<int64_t>(body_->threads) / 2));
        const int along_k = tile_.bk / 8, along_other = extent(input) / 8;
        eight.k = w_.let("in_k", is_along_k ? e % along_k * 8 : e / along_other * 2);
        eight.other = w_.let("in_tile", is_along_k ? e / along_k : e % along_other * 8);
        return eight;
    }

    /// The greatest place of a vector that begins at a multiple of `each` below the count, if there are places beyond.
    Expr clamped(Expr at, Expr count, bool is_whole, int each) {
        if (is_whole) return at;
        return body_->operation(ScalarOp::kMax, lesser(at, count - each), index(0));
    }

    void fetch_pairs(Expr k0) {
        for_each_half([&](size_t input, Expr thread) {
            const Eight eight = open_eights(input, thread);
            const bool is_along_k = is_k_contiguous(input), is_whole = whole_other(input);
            const Expr first = input == 0 ? first_m_ : first_n_;
            const Expr at = w_.let(input == 0 ? "m" : "n",
                                   clamped(first + eight.other, input == 0 ? m_count_ : n_count_,
                                           is_whole, is_along_k ? 1 : 8));
            for (int row = 0; row < (is_along_k ? 1 : 2); ++row) {
                const Expr k = w_.let(
                    "k", clamped(k0 + eight.k + row, k_total(), is_k_whole(), is_along_k ? 8 : 1));
                const Expr to = body_->element(next_[0], is_along_k ? eight.i : eight.i * 2 + row);
                read_words(input, input == 0 ? at : k, input == 0 ? k : at, to);
            }
            w_.end();
        });
    }

    /// What is beyond the last k is zero.
    Expr word_or_zero(Expr word, Expr k) {
        const Expr inside = is_inside_k(k);
        return inside ? select(inside, word, bits(0)) : word;
    }

    void put_pairs(int stage, Expr from) {
        for_each_half([&](size_t input, Expr thread) {
            const Eight eight = open_eights(input, thread);
            const int to = stage * depth() * stride(input);
            const Expr k = w_.let("k", from + eight.k);
            const Expr first = w_.let("to", eight.k / 2 * stride(input) + eight.other / 4 + to);
            const Expr j = w_.unrolled_for_("j", 4);
            if (is_k_contiguous(input)) {
                const Expr pairs = body_->element(next_[0], eight.i);
                w_.assign(body_->chunk_element(slice_element(input, first + j * stride(input)),
                                               eight.other % 4),
                          word_or_zero(body_->chunk_element(pairs, j), k));
            } else {
                put_columns(slice_element(input, first + j / 2), j, k, eight.i * 2);
            }
            end(2);
        });
    }

    /// Words `j` of two rows, each of two columns, as words of one column each, of a four of them.
    void put_columns(Expr four, Expr j, Expr k, Expr first_row) {
        Expr rows[2];
        for (int row = 0; row < 2; ++row)
            rows[row] = w_.let(
                "row" + std::to_string(row),
                word_or_zero(body_->chunk_element(body_->element(next_[0], first_row + row), j),
                             k + row));
        const auto apply = [&](ScalarOp op, Expr a, Expr b) { return body_->operation(op, a, b); };
        const Expr even = apply(ScalarOp::kBitOr, apply(ScalarOp::kBitAnd, rows[0], bits(0xffff)),
                                apply(ScalarOp::kShiftLeft, rows[1], bits(16)));
        const Expr odd = apply(ScalarOp::kBitOr, apply(ScalarOp::kShiftRight, rows[0], bits(16)),
                               apply(ScalarOp::kBitAnd, rows[1], bits(0xffff0000)));
        w_.assign(body_->chunk_element(four, j % 2 * 2), even);
        w_.assign(body_->chunk_element(four, j % 2 * 2 + 1), odd);
    }

    Expr bits(uint32_t value) { return body_->constant(value, ScalarType::kU32); }
    bool whole_other(size_t input) const { return input == 0 ? is_m_whole() : is_n_whole(); }
    /// Elements along k of the operands, of which k_end_ may be those of a part.
    Expr k_total() { return count_of(extents_.k, *body_); }

    /// sums += factor * b, of pairs.
    void add_pairs(Expr sums, Expr factor, Expr b) {
        const Expr lane = w_.unrolled_for_("lane", 4);
        const Expr sum = body_->chunk_element(sums, lane);
        w_.assign(sum, body_->dot_halves(factor, body_->chunk_element(b, lane), sum));
        w_.end();
    }

    void multiply_slices(int stage) {
        const int depth = this->depth() / tile_.split, rows = tile_.tm / 4, columns = tile_.tn / 4;
        const Expr first = w_.let("first_k", stretch_ * depth + stage * this->depth());
        const Expr a = elements_array("a", 2 * rows), b = elements_array("b", 2 * columns);
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
        if (is_in_pairs_)
            add_pairs(body_->element(sums_, i * columns + j), factor,
                      body_->element(b, now * columns + j));
        else
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

    /// Sums in shared memory, as bits where they take the place of words.
    bool are_sums_words() const { return is_in_pairs_ && replaces_; }
    void put_sums(Expr at, Expr sums) {
        const Expr to = body_->element(of_stretch_, at);
        if (!are_sums_words()) return w_.assign(to, sums);
        const Expr lane = w_.unrolled_for_("lane", 4);
        w_.assign(body_->chunk_element(to, lane),
                  body_->operation(ScalarOp::kBitsToU32, body_->chunk_element(sums, lane)));
        w_.end();
    }
    Expr sums_at(Expr at) {
        const Expr from = body_->element(of_stretch_, at);
        if (!are_sums_words()) return from;
        std::array<Expr, 4> sums;
        for (int64_t lane = 0; lane < 4; ++lane)
            sums[static_cast<size_t>(lane)] =
                body_->operation(ScalarOp::kBitsToF32, body_->chunk_element(from, index(lane)));
        return body_->compose(sums);
    }

    void store_sums_of_stretches() {
        const int fours = tile_.bn / 4, size = tile_.bm * fours;
        if (replaces_) w_.barrier();
        for_each_four([&](Expr i, Expr j, Expr sums) {
            put_sums(stretch_ * size + row_of(i) * fours + four_of(j), sums);
        });
        w_.barrier();
        const Expr e = share_out("e", size);
        const Expr all = variable("all", sums_at(e));
        const Expr s = w_.for_("s", index(1), [&](Expr at) { return at < tile_.split; });
        w_.accumulate(all, sums_at(s * size + e));
        w_.end();
        store_inside(first_m_ + e / fours, first_n_ + e % fours * 4, all);
        w_.end();
    }

    const int threads_m_,
        threads_n_;  ///< of a part of the workgroup, which has all sums of the tile
    const bool is_in_pairs_ = problem().can_dot_halves;
    bool replaces_ = false;
    int first_[2] = {0, 0};  ///< of slices in their shared arrays
    Expr slices_[2], of_stretch_, next_[2], sums_, stretch_, thread_m_, thread_n_;
};

}  // namespace

KernelDraft vector_matmul(const KernelTask& task, const MatmulTile& tile) {
    return VectorMatmul(task, tile).run();
}

}  // namespace hearth
