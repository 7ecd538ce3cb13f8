// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Matrix product on matrix cores, with f16 operands and f32 sums.
//
// Each workgroup computes a BM x BN tile in slices of BK.  kMatrix: each subgroup has a TM x TN part of it, in fragments
// of sums that stay in registers.  kWorkgroup: fragments belong to the workgroup, TN columns each; how the invocations
// share one is the driver's choice.
//
// Slices lie in shared memory as the operands do in memory, row by row or column by column, eight elements at a time,
// each row followed by kMatrixPad vectors so that rows begin in different banks.  A slice waits in registers while the
// one before is multiplied.  With two stages, which want a along k, a's slice is 2 BK deep, for two of b's, and half of
// its rows are fetched with each: whole lines of 128 bytes at BK of 32.
//
// Split-K within the workgroup: where there are few tiles, `split` subgroups share each part.  Each multiplies its
// stretch of every slice, and they add up on the way out, in the order of the stretches.  At the end the sums pass
// through shared memory, so that the epilogue has elements of known places.  The order of sums is fixed: deterministic.
// Bytes moved: (M*K*ceil(N/BN) + K*N*ceil(M/BM)) * 2 + M*N * (2 or 4) per batch.
//
// Tiles tried: docs/design/0010-matrix-cores.md.

#include "compiler/codegen/matmul/matmul_rows.hpp"
#include "compiler/codegen/matmul/matmul_writers.hpp"

#include <array>
#include <tuple>

namespace hearth {

namespace {

class MatrixMatmul : MatmulRows {
  public:
    MatrixMatmul(const KernelTask& task, const MatmulTile& tile)
        : MatmulRows(task, tile),
          is_workgroup_(tile.family == MatmulFamily::kWorkgroup),
          shape_(is_workgroup_
                     ? MatrixShape{static_cast<uint32_t>(tile.tm), static_cast<uint32_t>(tile.tn),
                                   static_cast<uint32_t>(tile.bk)}
                     : task.options.caps.cooperative_matrix_shape) {}

    KernelDraft run() {
        declare_workgroup();
        body_->matrix = shape_;
        body_->has_workgroup_matrices = is_workgroup_;
        body_->subgroup_size = is_workgroup_ ? body_->threads : options_.caps.subgroup_size;
        if (is_workgroup_) kernel_.workgroup_matrix = shape_;
        tile_words_ =
            body_->global("tile", LocalKind::kShared, ScalarType::kU32,
                          shared_bytes_of(tile_, problem(), options_.caps) / 16, Chunk::kFour);
        open_tile_of_band();
        if (!is_workgroup_) place_subgroup();
        if (fetches_early()) fetch_early();
        sums_ = w_.declare_chunks("sums", Chunk::kSums, static_cast<uint32_t>(rows() * columns()));
        const Expr s = w_.unrolled_for_("s", rows() * columns());
        w_.assign(body_->element(sums_, s), body_->fill(Chunk::kSums, zero()));
        w_.end();
        for (size_t input = folds_rows() ? 1 : 0; input < 2; ++input) declare_fetched(input);
        multiply();
        if (is_workgroup_)
            store_columns();
        else
            store_rows();
        return finish();
    }

  private:
    // ------------------------------------------------------------------------ sizes

    int64_t matrix_m() const { return shape_.m; }
    int64_t matrix_n() const { return shape_.n; }
    int64_t matrix_k() const { return shape_.k; }
    /// Fragments of sums of a subgroup, or of the workgroup.
    int64_t rows() const { return tile_.tm / matrix_m(); }
    int64_t columns() const { return (is_workgroup_ ? tile_.bn : tile_.tn) / matrix_n(); }
    int subgroups_n() const { return tile_.bn / tile_.tn; }
    int parts() const { return tile_.bm / tile_.tm * subgroups_n(); }

    /// How an operand's slice lies in shared memory, in vectors of eight elements.
    struct Slice {
        int row = 0, rows = 0;  ///< vectors of a row, and rows
        int first = 0;          ///< where it begins
        int loads = 0;          ///< vectors that each invocation fetches
        bool is_even = false;   ///< all invocations fetch as many
        int stride() const { return row + kMatrixPad; }
        int size() const { return row * rows; }
    };
    Slice slice(size_t input) const {
        const int depth = input == 0 ? tile_.stages * tile_.bk : tile_.bk;
        const int extent = input == 0 ? tile_.bm : tile_.bn;
        const bool is_along_k = is_k_contiguous(input);
        Slice s{(is_along_k ? depth : extent) / 8, is_along_k ? extent : depth};
        const int threads = static_cast<int>(body_->threads);
        s.loads = (s.size() + threads - 1) / threads;
        s.is_even = s.size() % threads == 0;
        if (input == 1) {
            const Slice a = slice(0);
            s.first = a.rows * a.stride();
        }
        return s;
    }

    // ------------------------------------------------------------------------ places

    /// Workgroups run in bands of some rows of tiles: those that run together share slices in the cache.
    void open_tile_of_band() {
        constexpr int64_t kBand = 8;
        const Expr tiles_n = w_.let("tiles_n", body_->workgroups(0));
        const Expr linear = w_.let("linear", body_->workgroup(1) * tiles_n + body_->workgroup(0));
        const Expr first = w_.let("first_tile", linear / (tiles_n * kBand) * kBand);
        const Expr band = w_.let("band", lesser(index(kBand), body_->workgroups(1) - first));
        const Expr in_band = w_.let("in_band", linear - first * tiles_n);
        const Expr m = w_.let("first_m", (first + in_band % band) * tile_.bm);
        open_tile(m, w_.let("first_n", in_band / band * tile_.bn));
    }

    void place_subgroup() {
        lane_ = w_.let("lane", body_->subgroup_invocation());
        subgroup_ = w_.let("subgroup", body_->subgroup());
        part_ = w_.let("subgroup_part", subgroup_ % parts());
        stretch_ = w_.let("stretch", subgroup_ / parts());
        part_m_ = w_.let("part_m", part_ / subgroups_n() * tile_.tm);
        part_n_ = w_.let("part_n", part_ % subgroups_n() * tile_.tn);
    }

    /// True if an invocation stores four elements at most.
    bool fetches_early() const {
        return !is_workgroup_ && tile_.split > 1 && tile_.tm == matrix_m() && stores_by_fours() &&
               tile_.tm * tile_.tn / 4 <=
                   tile_.split * static_cast<int>(options_.caps.subgroup_size);
    }
    void fetch_early() {
        const int64_t fours = tile_.tn / 4;
        const Expr e = w_.let("early", first_four());
        const Expr m = w_.let("early_m", first_m_ + part_m_ + e / fours);
        const Expr n = w_.let("early_n", first_n_ + part_n_ + e % fours * 4);
        load_early(all_of({e < matrix_m() * fours, is_inside_m(m), is_inside_n(n)}), m, n);
    }
    Expr first_four() {
        return lane_ + stretch_ * static_cast<int64_t>(options_.caps.subgroup_size);
    }

    // ------------------------------------------------------------------------ slices

    /// Fetched vectors are words of f16, or floats that are rounded only on their way to shared memory, so that nothing
    /// waits for them.
    bool fetches_words(size_t input) const {
        return loads_by_eights(input) && !view(input)->is_cast && packed_bits(input) == 0;
    }
    void declare_fetched(size_t input) {
        const char* const name = input == 0 ? "next_a" : "next_b";
        const auto loads = static_cast<uint32_t>(slice(input).loads);
        fetched_[input] = fetches_words(input) ? w_.declare_chunks(name, Chunk::kHalves, loads)
                                               : w_.declare_chunks(name, Chunk::kFour, 2 * loads);
    }

    /// A part of the slice at k_first, into registers.
    void fetch(size_t input, Expr k_first, int first, int count) {
        const Slice s = slice(input);
        const bool is_along_k = is_k_contiguous(input);
        const Expr from = w_.let("from", k_first);
        const Expr u = w_.unrolled_for_("u", count);
        const Expr i = first == 0 ? u : w_.let("i", u + first);
        const Expr e = w_.let("e", thread_ + i * static_cast<int64_t>(body_->threads));
        const Expr k = w_.let("k", from + (is_along_k ? e % s.row * 8 : e / s.row));
        const Expr at =
            w_.let(input == 0 ? "m" : "n",
                   (input == 0 ? first_m_ : first_n_) + (is_along_k ? e / s.row : e % s.row * 8));
        const Expr inside = all_of({input == 0 ? is_inside_m(at) : is_inside_n(at), is_inside_k(k),
                                    s.is_even ? Expr() : e < s.size()});
        const Expr row = input == 0 ? at : k, column = input == 0 ? k : at;
        if (fetches_words(input)) {
            const Expr none = body_->fill(Chunk::kHalves, zero());
            const Expr words =
                read_where(inside, none, [&](Expr to) { read_words(input, row, column, to); });
            w_.assign(body_->element(fetched_[input], i), words);
        } else {
            const Expr low = variable("low", four_zeros());
            const Expr high = read_where(inside, four_zeros(), [&](Expr to) {
                const Expr fours[] = {low, to};
                if (loads_by_eights(input))
                    read_fours(input, row, column, fours);
                else
                    gather_fours(input, row, column, is_along_k, fours);
            });
            w_.assign(body_->element(fetched_[input], i * 2), low);
            w_.assign(body_->element(fetched_[input], i * 2 + 1), high);
        }
        w_.end();
    }
    void fetch_a(Expr k_first, int stage) {
        if (folds_rows()) return;
        const int count = slice(0).loads / tile_.stages;
        fetch(0, k_first, stage * count, count);
    }
    void fetch_b(Expr k_first) { fetch(1, k_first, 0, slice(1).loads); }

    /// What was fetched, to shared memory.
    void put(size_t input) {
        if (input == 0 && folds_rows()) return;
        const Slice s = slice(input);
        const Expr i = w_.unrolled_for_("i", s.loads);
        const Expr e = w_.let("e", thread_ + i * static_cast<int64_t>(body_->threads));
        if (!s.is_even) w_.if_(e < s.size());
        const Expr to = e / s.row * s.stride() + e % s.row;
        const auto fetched = [&](Expr at) { return body_->element(fetched_[input], at); };
        const Expr halves = fetches_words(input)
                                ? fetched(i)
                                : body_->join(Chunk::kHalves, fetched(i * 2), fetched(i * 2 + 1));
        w_.assign(body_->element(tile_words_, s.first == 0 ? to : to + s.first),
                  body_->reinterpret(halves));
        end(s.is_even ? 1 : 2);
    }

    // ------------------------------------------------------------------------ the product

    void multiply() {
        const int depth = tile_.stages * tile_.bk;
        for (int stage = tile_.stages - 1; stage >= 0; --stage) fetch_a(k_first_, stage);
        fetch_b(k_first_);
        if (folds_rows()) make_rows(tile_words_, slice(0).stride());
        put(0);
        put(1);
        w_.barrier();
        const Expr has_more = w_.let("has_more", k_end_ - k_first_ > tile_.bk);
        // Fetching the last slice again costs less than asking whether there is another.
        const Expr rest = body_->operation(ScalarOp::kMax, k_end_ - k_first_ - 1, index(0));
        const Expr last = w_.let("last", k_first_ + rest / depth * depth);
        const Expr last_b = w_.let("last_b", last + (depth - tile_.bk));
        const Expr k0 = w_.for_(
            "k0", k_first_, [&](Expr at) { return at < k_end_; }, index(depth));
        for (int stage = 0; stage < tile_.stages; ++stage) {
            w_.if_(has_more);
            fetch_a(lesser(k0 + depth, last), stage);
            fetch_b(lesser(k0 + (stage + 1) * tile_.bk, last_b));
            // Keeps compilers from loading only when it is needed.
            if (!is_workgroup_) w_.subgroup_barrier();
            w_.end();
            multiply_slices(stage);
            w_.barrier();
            w_.if_(has_more);
            if (stage + 1 == tile_.stages) put(0);
            put(1);
            w_.barrier();
            w_.end();
        }
        w_.end();
    }

    /// A fragment = elements from (k, other) on of the operand's slice.
    void load(Expr fragment, size_t input, Expr k, Expr other) {
        const Slice s = slice(input);
        const bool is_along_k = is_k_contiguous(input);
        const Expr first = is_along_k ? other * s.stride() + k / 8 : k * s.stride() + other / 8;
        w_.load_fragment(fragment, {tile_words_, s.first == 0 ? first : first + s.first,
                                    index(s.stride()), is_along_k == (input == 1)});
    }

    void multiply_slices(int stage) {
        const int depth = tile_.bk / tile_.split;
        const Expr step = w_.unrolled_for_("step", depth / matrix_k());
        const Expr in_stretch = step * matrix_k();
        const Expr k = w_.let("k", is_workgroup_ ? in_stretch : stretch_ * depth + in_stretch);
        const Expr a = w_.declare_chunks("a", Chunk::kLeft, static_cast<uint32_t>(rows()));
        Expr i = w_.unrolled_for_("i", rows());
        const auto place = [&](Expr part, Expr at) { return is_workgroup_ ? at : part + at; };
        load(body_->element(a, i), 0, w_.let("in_a", k + stage * tile_.bk),
             w_.let("m", place(part_m_, i * matrix_m())));
        w_.end();
        const Expr j = w_.unrolled_for_("j", columns());
        const Expr b = w_.declare_chunk("b", Chunk::kRight);
        load(b, 1, k, w_.let("n", place(part_n_, j * matrix_n())));
        i = w_.unrolled_for_("i", rows());
        const Expr sum = body_->element(sums_, i * columns() + j);
        w_.assign(sum, body_->multiply_add(body_->element(a, i), b, sum));
        end(3);
    }

    // ------------------------------------------------------------------------ results

    void barrier_of_part() {
        if (tile_.split > 1)
            w_.barrier();
        else
            w_.subgroup_barrier();
    }

    Expr floats_at(Expr place) {
        return body_->operation(ScalarOp::kBitsToF32, body_->element(tile_words_, place));
    }
    void store_inside(Expr row, Expr column, Expr four) {
        const Expr m = w_.let("m", row), n = w_.let("n", column);
        const Expr inside = all_of({is_inside_m(m), is_inside_n(n)});
        if (inside) w_.if_(inside);
        store_four(m, n, four);
        if (inside) w_.end();
    }

    /// One row of fragments of each subgroup at a time.
    void store_rows() {
        const int64_t fours = tile_.tn / 4, stride = fours + 1, size = matrix_m() * stride;
        const Expr out_first = w_.let("out_first", subgroup_ * size);
        const Expr part_first = w_.let("part_first", part_ * size);
        const Expr i = w_.unrolled_for_("i", rows());
        const Expr j = w_.unrolled_for_("j", columns());
        w_.store_fragment(body_->element(sums_, i * columns() + j),
                          {tile_words_, out_first + j * (matrix_n() / 4), index(stride)});
        w_.end();
        barrier_of_part();
        const Expr e = w_.for_(
            "e", first_four(), [&](Expr at) { return at < matrix_m() * fours; },
            index(tile_.split * static_cast<int64_t>(options_.caps.subgroup_size)));
        const Expr row = w_.let("row", e / fours), column = w_.let("column", e % fours);
        const Expr place = w_.let("place", part_first + row * stride + column);
        const Expr four = variable("four", floats_at(place));
        for (int64_t s = 1; s < tile_.split; ++s)
            w_.accumulate(four, floats_at(place + s * parts() * size));
        store_inside(first_m_ + part_m_ + i * matrix_m() + row, first_n_ + part_n_ + column * 4,
                     four);
        w_.end();
        barrier_of_part();
        w_.end();
    }

    /// The workgroup's fragments one by one.
    void store_columns() {
        const int64_t fours = tile_.tn / 4, stride = fours + 1;
        const Expr j = w_.unrolled_for_("j", columns());
        w_.store_fragment(body_->element(sums_, j), {tile_words_, index(0), index(stride)});
        w_.barrier();
        const Expr e = share_out("e", tile_.tm * fours);
        const Expr row = w_.let("row", e / fours), column = w_.let("column", e % fours);
        const Expr four = w_.let("four", floats_at(row * stride + column));
        store_inside(first_m_ + row, first_n_ + j * tile_.tn + column * 4, four);
        w_.end();
        w_.barrier();
        w_.end();
    }

    const bool is_workgroup_;
    const MatrixShape shape_;  ///< of fragments
    Expr tile_words_;          ///< shared memory: slices, then sums
    Expr fetched_[2], sums_;
    Expr lane_, subgroup_, part_, stretch_, part_m_, part_n_;  ///< kMatrix
};

}  // namespace

KernelDraft matrix_matmul(const KernelTask& task, const MatmulTile& tile) {
    return MatrixMatmul(task, tile).run();
}

}  // namespace hearth
