// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Matrix product with few rows (GEMV): what takes time is reading b, once.
//
// Each workgroup computes BM rows of BN columns.  Where b's elements follow each other along k, its threads share out k,
// a chunk of 16 bytes each at a time, and have a sum for each result.  Else a chunk of neighbouring columns belongs to
// each of BN / chunk threads, and the other threads share out k.  The threads' sums are added through shared memory in a
// fixed order: deterministic.
// Bytes moved: K*N of b's elements for each BM rows, which a's rows and the results add little to.

#include "compiler/codegen/matmul/matmul_body.hpp"
#include "compiler/codegen/matmul/matmul_writers.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace hearth {

namespace {

class Gemv : MatmulBody {
  public:
    Gemv(const KernelTask& task, const MatmulTile& tile)
        : MatmulBody(task, tile), is_along_k_(is_k_contiguous(1)), chunk_(chunk_of(1)) {}

    KernelDraft run() {
        declare_workgroup();
        const int threads = tile_.threads, results = tile_.bm * tile_.bn;
        lanes_n_ = is_along_k_ ? 1 : tile_.bn / chunk_.length;
        lanes_k_ = threads / lanes_n_;
        partial_ = body_->global("partial", LocalKind::kShared, ScalarType::kF32,
                                 static_cast<uint32_t>(lanes_k_ * results));
        open_tile();
        lane_n_ = w_.let("lane_n", thread_ % lanes_n_);
        lane_k_ = w_.let("lane_k", thread_ / lanes_n_);
        if (is_along_k_)
            multiply_along_k();
        else
            multiply_along_n();
        add_up(std::clamp(threads / results, 1, std::min(lanes_k_, 8)));
        return finish();
    }

  private:
    /// Neighbouring elements that a thread reads at once.
    struct ChunkForm {
        enum Kind { kGathered, kFloats, kHalves, kPacked } kind = kGathered;
        int length = 8;
        int fours() const { return length / 4; }
        bool are_words() const { return kind == kHalves || kind == kPacked; }
    };

    ChunkForm chunk_of(size_t input) const {
        if (!view(input) || view(input)->is_cast) return {};
        ChunkForm chunk;
        const DType in_memory = held(view(input)->dtype);
        if (const uint32_t bits = packed_bits(input); bits != 0) {
            // Along n a thread would have too many sums.
            if (!is_along_k_) return {};
            chunk = {ChunkForm::kPacked, static_cast<int>(128 / bits)};
            if (!is_packed_in_blocks_of(input, chunk.length)) return {};
        } else if (in_memory == DType::kF32) {
            chunk = {ChunkForm::kFloats, 4};
        } else if (in_memory == DType::kF16) {
            chunk = {ChunkForm::kHalves, 8};
        }
        return loads_vectors(input, chunk.length) ? chunk : ChunkForm{};
    }

    Expr fours_array(const char* name, int length, ScalarType type = ScalarType::kF32) {
        return w_.declare_chunks(name, Chunk::kFour, static_cast<uint32_t>(length), type);
    }
    /// Rows and columns beyond the last are computed again: a load needs a place.
    Expr row(Expr i) {
        const Expr m = first_m_ + i;
        return w_.let("m", is_m_whole() ? m : lesser(m, m_count_ - 1));
    }
    Expr column(Expr j) {
        const Expr n = first_n_ + j;
        return w_.let("n", is_n_whole() ? n : lesser(n, n_count_ - 1));
    }

    // ------------------------------------------------------------------------ b along k

    /// A chunk of each column, as fours of floats or as words with their scales.
    struct Chunks {
        Expr elements, scales;
    };

    void multiply_along_k() {
        const int bm = tile_.bm, bn = tile_.bn;
        const Expr sums =
            w_.declare_array("sums", ScalarType::kF32, static_cast<uint32_t>(bm * bn));
        const Expr s = w_.unrolled_for_("s", bm * bn);
        w_.assign(body_->element(sums, s), zero());
        w_.end();
        const Expr k = w_.for_(
            "k", k_first_ + lane_k_ * chunk_.length, [&](Expr at) { return at < k_end_; },
            index(lanes_k_ * chunk_.length));
        const Chunks chunks = read_chunks(k);
        if (dots_halves()) {
            multiply_halves(chunks.elements, sums, k);
            w_.end();
        } else {
            multiply_fours(chunks, sums, k);
        }
        const auto [i, j] = for_each(bm, bn);
        w_.assign(partial_of(i, j), body_->element(sums, i * bn + j));
        end(2);
    }

    void multiply_fours(const Chunks& chunks, Expr sums, Expr k) {
        const int bm = tile_.bm, bn = tile_.bn;
        const Expr part = w_.unrolled_for_("part", chunk_.fours());
        const Expr fours = chunk_.are_words() ? fours_of(chunks, part) : chunks.elements;
        const Expr at = w_.let("at", k + part * 4);
        Expr i = w_.unrolled_for_("i", bm);
        const Expr a = read_a(row(i), at);
        Expr j = w_.unrolled_for_("j", bn);
        const Expr b = w_.let(
            "b_four", body_->element(fours, chunk_.are_words() ? j : j * chunk_.fours() + part));
        const Expr sum = body_->element(sums, i * bn + j);
        Expr next = sum;
        for (int64_t lane = 0; lane < 4; ++lane)
            next = body_->multiply_add(body_->chunk_element(a, index(lane)),
                                       body_->chunk_element(b, index(lane)), next);
        w_.assign(sum, next);
        end(4);
    }

    /// Both operands are words of two f16 along k, which the device multiplies and adds up in one instruction.
    bool dots_halves() const {
        return options_.caps.mixed_float_dot_product && chunk_.kind == ChunkForm::kHalves &&
               chunk_of(0).kind == ChunkForm::kHalves && !is_swapped(0);
    }
    void multiply_halves(Expr b, Expr sums, Expr k) {
        const int bm = tile_.bm, bn = tile_.bn;
        const Expr a = fours_array("a", bm, ScalarType::kU32);
        Expr i = w_.unrolled_for_("i", bm);
        read_words(0, row(i), k, body_->element(a, i));
        w_.end();
        const Expr word = w_.unrolled_for_("word", 4);
        i = w_.unrolled_for_("i", bm);
        const Expr j = w_.unrolled_for_("j", bn);
        const Expr sum = body_->element(sums, i * bn + j);
        w_.assign(sum, body_->dot_halves(body_->chunk_element(body_->element(a, i), word),
                                         body_->chunk_element(body_->element(b, j), word), sum));
        end(3);
    }

    Chunks read_chunks(Expr k) {
        Chunks chunks;
        chunks.elements = chunk_.are_words() ? fours_array("b", tile_.bn, ScalarType::kU32)
                                             : fours_array("b", tile_.bn * chunk_.fours());
        if (chunk_.kind == ChunkForm::kPacked)
            chunks.scales =
                w_.declare_array("scales", ScalarType::kF32, static_cast<uint32_t>(tile_.bn));
        const Expr j = w_.unrolled_for_("j", tile_.bn);
        const Expr n = column(j);
        if (chunk_.are_words())
            read_words(1, k, n, body_->element(chunks.elements, j));
        else
            read_floats(k, n, chunks.elements, j * chunk_.fours());
        if (chunks.scales) read_scale(1, k, n, body_->element(chunks.scales, j));
        w_.end();
        return chunks;
    }

    /// A chunk of b that is no words, to elements of an array of fours.
    void read_floats(Expr k, Expr n, Expr array, Expr first) {
        std::vector<Expr> to;
        for (int i = 0; i < chunk_.fours(); ++i) to.push_back(body_->element(array, first + i));
        if (chunk_.kind == ChunkForm::kFloats)
            read_fours(1, k, n, to);
        else
            gather_fours(1, k, n, is_along_k_, to);
    }

    /// Fours of all columns, of the chunks' words.
    Expr fours_of(const Chunks& chunks, Expr part) {
        const Expr fours = fours_array("fours", tile_.bn);
        const Expr j = w_.unrolled_for_("j", tile_.bn);
        const Expr words = body_->element(chunks.elements, j);
        w_.assign(body_->element(fours, j),
                  chunk_.kind == ChunkForm::kHalves
                      ? four_halves(words, part)
                      : unpacked_four(words, part, body_->element(chunks.scales, j)));
        w_.end();
        return fours;
    }
    Expr four_halves(Expr words, Expr part) {
        std::array<Expr, 4> numbers;
        for (size_t half = 0; half < 2; ++half) {
            const Expr word = part * 2 + static_cast<int64_t>(half);
            const Expr two = w_.let("two", body_->two_halves(body_->chunk_element(words, word)));
            for (size_t i = 0; i < 2; ++i)
                numbers[2 * half + i] = body_->chunk_element(two, index(static_cast<int64_t>(i)));
        }
        return body_->compose(numbers);
    }
    Expr unpacked_four(Expr words, Expr part, Expr scale) {
        if (packed_bits(1) == 8) return unpacked(8, body_->chunk_element(words, part), {}, scale);
        return unpacked(4, body_->chunk_element(words, part / 2), part % 2, scale);
    }

    /// Four elements of a row of a along k, zeros beyond the last.
    Expr read_a(Expr m, Expr k) {
        const ChunkForm own = chunk_of(0);
        const bool has_vectors =
            !is_swapped(0) && (own.kind == ChunkForm::kFloats || own.kind == ChunkForm::kHalves);
        // Only a gathered chunk of b may reach beyond the last.
        const bool may_end = chunk_.kind == ChunkForm::kGathered;
        return read_where(may_end && has_vectors ? is_inside_k(k) : Expr(), four_zeros(),
                          [&](Expr to) {
                              if (has_vectors)
                                  read_fours(0, m, k, {&to, 1});
                              else
                                  gather_fours(0, m, k, true, {&to, 1});
                          });
    }

    // ------------------------------------------------------------------------ b along n

    void multiply_along_n() {
        const int bm = tile_.bm, fours = chunk_.fours();
        const Expr sums = fours_array("sums", bm * fours);
        const Expr s = w_.unrolled_for_("s", bm * fours);
        w_.assign(body_->element(sums, s), four_zeros());
        w_.end();
        const Expr n = w_.let("n", first_n_ + lane_n_ * chunk_.length);
        if (!is_n_whole()) w_.if_(n < n_count_);
        const Expr k = w_.for_(
            "k", k_first_ + lane_k_, [&](Expr at) { return at < k_end_; }, index(lanes_k_));
        const Expr b = fours_array("b", fours);
        if (chunk_.are_words()) {
            const Expr words = fours_array("words", 1, ScalarType::kU32);
            read_words(1, k, n, body_->element(words, index(0)));
            for (int64_t part = 0; part < fours; ++part)
                w_.assign(body_->element(b, index(part)),
                          four_halves(body_->element(words, index(0)), index(part)));
        } else {
            read_floats(k, n, b, index(0));
        }
        Expr i = w_.unrolled_for_("i", bm);
        const Expr a = w_.declare("a", ScalarType::kF32);
        read(0, row(i), k, a);
        const Expr factor = w_.let("factor", body_->fill(Chunk::kFour, a));
        const Expr part = w_.unrolled_for_("part", fours);
        add_product(body_->element(sums, i * fours + part), factor, body_->element(b, part));
        end(is_n_whole() ? 3 : 4);
        Expr j;
        std::tie(i, j) = for_each(bm, chunk_.length);
        w_.assign(partial_of(i, lane_n_ * chunk_.length + j),
                  body_->chunk_element(body_->element(sums, i * fours + j / 4), j % 4));
        end(2);
    }

    // ------------------------------------------------------------------------ results

    /// The thread's sum of a result.
    Expr partial_of(Expr i, Expr j) {
        return body_->element(partial_, (i * tile_.bn + j) * lanes_k_ + lane_k_);
    }

    /// In two steps: some threads add up a part of each result's sums, then one adds up the parts.  Each begins somewhere
    /// else, so that neighbours read different banks.
    void add_up(int parts) {
        const int part = lanes_k_ / parts, results = tile_.bm * tile_.bn;
        w_.barrier();
        Expr e = share_out("e", results * parts);
        const Expr at = w_.let("at", e / parts * lanes_k_ + remainder(e, parts) * part);
        w_.assign(body_->element(partial_, at),
                  total_of(part, [&](Expr i) { return at + remainder(i + e, part); }));
        w_.end();
        w_.barrier();
        e = share_out("e", results);
        const Expr total = total_of(parts, [&](Expr i) { return e * lanes_k_ + i * part; });
        const Expr m = w_.let("m", first_m_ + e / tile_.bn),
                   n = w_.let("n", first_n_ + e % tile_.bn);
        const Expr inside = all_of({is_inside_m(m), is_inside_n(n)});
        if (inside) w_.if_(inside);
        store(m, n, total);
        end(inside ? 2 : 1);
    }

    /// a % b, of which compilers make the same for powers of two only if they know that a is not negative.
    static Expr remainder(Expr a, int b) { return (b & (b - 1)) == 0 ? a & (b - 1) : a % b; }

    template <class Place>
    Expr total_of(int count, const Place& place) {
        const Expr total = variable("total", zero());
        const Expr i = w_.unrolled_for_("i", count);
        w_.accumulate(total, body_->element(partial_, place(i)));
        w_.end();
        return total;
    }

    const bool is_along_k_;  ///< b's elements follow each other along k
    const ChunkForm chunk_;  ///< of b
    int lanes_n_ = 1, lanes_k_ = 1;
    Expr partial_, lane_n_, lane_k_;
};

}  // namespace

KernelDraft gemv(const KernelTask& task, const MatmulTile& tile) {
    return Gemv(task, tile).run();
}

}  // namespace hearth
