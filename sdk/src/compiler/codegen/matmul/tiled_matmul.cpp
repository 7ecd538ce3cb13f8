// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Matrix product of floats or integers, element by element.
//
// Each workgroup computes a BM x BN tile; a and b pass through shared memory in slices of BK; each thread keeps TM x TN
// sums in registers, strided so that neighbouring threads touch neighbouring columns.  Accumulates in order of k:
// deterministic; integers wrap around.
// Bytes moved: (M*K*ceil(N/BN) + K*N*ceil(M/BM) + M*N) * 4 per batch.

#include "compiler/codegen/matmul/matmul_body.hpp"
#include "compiler/codegen/matmul/matmul_writers.hpp"
#include "core/driver_workarounds.hpp"

namespace hearth {

namespace {

class TiledMatmul : MatmulBody {
  public:
    TiledMatmul(const KernelTask& task, const MatmulTile& tile)
        : MatmulBody(task, tile), is_rolled_(kRolledLoops.is_needed(task.options.caps)) {}

    KernelDraft run() {
        const auto [bm, bn, bk] = std::array{tile_.bm, tile_.bn, tile_.bk};
        declare_workgroup();
        const auto shared = [&](const char* name, int64_t length) {
            return body_->global(name, LocalKind::kShared, number_type(),
                                 static_cast<uint32_t>(length));
        };
        // One column of padding: no bank conflicts when written by k.
        slices_[0] = shared("tile_a", int64_t{bk} * (bm + 1));
        slices_[1] = shared("tile_b", int64_t{bk} * (bn + 1));
        open_tile();
        thread_m_ = w_.let("thread_m", thread_ / threads_n());
        thread_n_ = w_.let("thread_n", thread_ % threads_n());
        sums_ = w_.declare_array("sums", number_type(), static_cast<uint32_t>(tile_.tm * tile_.tn));
        const Expr s = w_.unrolled_for_("s", int64_t{tile_.tm} * tile_.tn);
        w_.assign(body_->element(sums_, s), zero());
        w_.end();
        const Expr k0 = w_.for_(
            "k0", k_first_, [&](Expr at) { return at < k_end_; }, index(bk));
        copy_slice(0, k0);
        copy_slice(1, k0);
        w_.barrier();
        multiply_slices();
        w_.barrier();
        w_.end();
        if (tile_.stores_in_loop)
            store_in_loop(shared("tile_c", int64_t{bm} * bn));
        else
            store_each();
        return finish();
    }

  private:
    int threads_n() const { return tile_.bn / tile_.tn; }
    int threads_m() const { return tile_.bm / tile_.tm; }
    int extent(size_t input) const { return input == 0 ? tile_.bm : tile_.bn; }

    /// Drivers on the CPU had better not unroll the loop opened last.  They do unroll loops of up to 32 turns, and a
    /// load is a loop over lanes there: what compiles in 70 ms as loops takes 240 ms unrolled and runs no faster.
    void roll() {
        if (is_rolled_) w_.keep_last_rolled();
    }
    void copy_slice(size_t input, Expr k0) {
        const int bk = tile_.bk, size = extent(input);
        const bool is_along_k = is_k_contiguous(input);
        const Expr e = share_out("e", int64_t{size} * bk);
        roll();
        const Expr in_k = w_.let("in_k", is_along_k ? e % bk : e / size);
        const Expr in_tile = w_.let("in_tile", is_along_k ? e / bk : e % size);
        const Expr k = w_.let("k", k0 + in_k);
        const Expr at =
            w_.let(input == 0 ? "m" : "n", (input == 0 ? first_m_ : first_n_) + in_tile);
        const Expr inside =
            all_of({input == 0 ? is_inside_m(at) : is_inside_n(at), is_inside_k(k)});
        const Expr element = read_where(inside, zero(), [&](Expr to) {
            read(input, input == 0 ? at : k, input == 0 ? k : at, to);
        });
        w_.assign(body_->element(slices_[input], in_k * (size + 1) + in_tile), element);
        w_.end();
    }

    void multiply_slices() {
        const Expr k = w_.for_("k", index(0), [&](Expr at) { return at < tile_.bk; });
        roll();
        const Expr a = load_factors("a", 0, k, thread_m_, tile_.tm, threads_m());
        const Expr b = load_factors("b", 1, k, thread_n_, tile_.tn, threads_n());
        const Expr i = w_.unrolled_for_("i", tile_.tm), j = w_.unrolled_for_("j", tile_.tn);
        add_product(body_->element(sums_, i * tile_.tn + j), body_->element(a, i),
                    body_->element(b, j));
        end(3);
    }

    Expr load_factors(const char* name, size_t input, Expr k, Expr first, int count, int stride) {
        const Expr factors = w_.declare_array(name, number_type(), static_cast<uint32_t>(count));
        const Expr i = w_.unrolled_for_("i", count);
        w_.assign(body_->element(factors, i),
                  body_->element(slices_[input], k * (extent(input) + 1) + (first + i * stride)));
        w_.end();
        return factors;
    }

    /// Calls f(row, column, sum) in loops over the thread's sums.
    template <class F>
    void for_each_sum(const F& f) {
        const Expr i = w_.unrolled_for_("i", tile_.tm), j = w_.unrolled_for_("j", tile_.tn);
        f(thread_m_ + i * threads_m(), thread_n_ + j * threads_n(),
          body_->element(sums_, i * tile_.tn + j));
        end(2);
    }

    void store_each() {
        for_each_sum([&](Expr row, Expr column, Expr sum) {
            store_inside(first_m_ + row, first_n_ + column, sum);
        });
    }

    /// One copy of the epilogue instead of one for each sum: it compiles faster.
    void store_in_loop(Expr tile) {
        for_each_sum([&](Expr row, Expr column, Expr sum) {
            w_.assign(body_->element(tile, row * tile_.bn + column), sum);
        });
        w_.barrier();
        const Expr e = share_out("e", int64_t{tile_.bm} * tile_.bn);
        roll();
        store_inside(first_m_ + e / tile_.bn, first_n_ + e % tile_.bn, body_->element(tile, e));
        w_.end();
    }

    void store_inside(Expr row, Expr column, Expr sum) {
        const Expr m = w_.let("m", row), n = w_.let("n", column);
        const Expr inside = all_of({is_inside_m(m), is_inside_n(n)});
        if (inside) w_.if_(inside);
        store(m, n, sum);
        if (inside) w_.end();
    }

    const bool is_rolled_;
    Expr slices_[2];  ///< in shared memory: [BK][BM + 1] and [BK][BN + 1]
    Expr thread_m_, thread_n_, sums_;
};

}  // namespace

KernelDraft tiled_matmul(const KernelTask& task, const MatmulTile& tile) {
    return TiledMatmul(task, tile).run();
}

}  // namespace hearth
