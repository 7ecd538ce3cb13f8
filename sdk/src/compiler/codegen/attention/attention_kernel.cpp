// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// softmax(scores) values, and its gradients from scores computed again.  f32 throughout.
// Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al.,
// "FlashAttention", 2022, algorithms 1 and 4, the latter without its sums over workgroups.
//
// q: [B, HEADS, QUERIES, D], k: [B, KEY_HEADS, KEYS, D], v: [B, KEY_HEADS, KEYS, DV]
// forward: [B, HEADS, QUERIES, DV], and the log of the sum of exp(scores) [B, HEADS, QUERIES]; both
// 0 for a query that sees no key
// backward: also reads the cotangent g [B, HEADS, QUERIES, DV], these logs, and the sums of g times
// the result [B, HEADS, QUERIES]; gives the cotangent of q, or those of k and v
//
// A workgroup keeps a tile of rows (queries; for the cotangents of k and v keys) in shared memory
// and walks over the other sequence in tiles; for keys, over the queries of all heads that share
// them, in order.  Row of an invocation: index / lanes.  Of a tile's scores it computes every
// lanes-th; of the result it sums some columns (add_rows).

#include "compiler/codegen/kernel_families.hpp"
#include "compiler/codegen/shared/extents.hpp"
#include "compiler/codegen/shared/operator_kernel.hpp"
#include "core/driver_workarounds.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace hearth {

namespace {

int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

class AttentionKernel : OperatorKernel {
  public:
    AttentionKernel(const KernelTask& task, const AttentionTile& tile)
        : OperatorKernel(task),
          attrs_(node_.attrs),
          pass_(node_.op->traits.attention),
          tile_(tile),
          threads_(tile.threads(pass_)),
          is_rolled_(kRolledLoops.is_needed(task.options.caps)) {
        if (is_rolled_) w_.keep_rolled();
    }

    KernelDraft run() {
        const bool by_keys = pass_ == AttentionPass::kBackwardKeys;
        thread_ = w_.let("thread", body_->invocation());
        row_ = w_.let("row", thread_ / tile_.lanes);
        lane_ = w_.let("lane", thread_ % tile_.lanes);
        query_count_ = w_.let("query_count", count_of(shape(kQuery)[2], *body_));
        key_count_ = w_.let("key_count", count_of(shape(kKey)[2], *body_));
        declare_tiles();
        const Expr pairs = w_.let("pairs", count_of(pair_count(), *body_));
        const Expr tiles = w_.let(
            "tiles", ((by_keys ? key_count_ : query_count_) + (row_tile() - 1)) / row_tile());
        const Expr task = w_.for_(
            "task", body_->workgroup(), [&](Expr at) { return at < pairs * tiles; },
            body_->workgroups());
        const Expr pair = w_.let("pair", task % pairs);
        const Expr first = w_.let("first_row", task / pairs * row_tile());
        switch (pass_) {
            case AttentionPass::kBackwardQueries:
                backward_queries(pair, first);
                break;
            case AttentionPass::kBackwardKeys:
                backward_keys(pair, first);
                break;
            default:
                forward(pair, first);
        }
        w_.barrier();
        w_.end();
        return draft();
    }

  private:
    int64_t width(size_t input) const { return shape(input)[3].count; }
    int64_t heads() const { return shape(kQuery)[1].count; }
    int64_t key_heads() const { return shape(kKey)[1].count; }
    int64_t row_tile() const { return tile_.rows(pass_); }
    size_t row_input() const {
        return pass_ == AttentionPass::kBackwardKeys ? size_t{kKey} : size_t{kQuery};
    }
    Dim pair_count() const {
        const Shape& s = shape(row_input());
        return {s[0].count * s[1].count, s[0].is_batch};
    }

    Expr hidden() const { return number(-HUGE_VAL); }  // the score of a key that is not seen
    Expr zeros() const { return body_->fill(Chunk::kFour, number(0)); }
    /// The larger of two scores, where NaN does not matter: it is in the sum of the weights.
    static Expr larger_score(Expr a, Expr b) { return select(a < b, b, a); }
    Expr lane_of(Expr four, int64_t i) const { return body_->chunk_element(four, index(i)); }
    Expr total_of(Expr four) const {
        return lane_of(four, 0) + lane_of(four, 1) + (lane_of(four, 2) + lane_of(four, 3));
    }
    /// A loop that drivers may unroll, but for those on which it would not pay.
    Expr loop(const char* name, int64_t turns) {
        return is_rolled_ ? w_.unrolled_for_(name, turns)
                          : w_.for_(name, index(0), [&](Expr at) { return at < turns; });
    }
    Expr read(size_t input, std::initializer_list<Scalar> coordinates, ScalarType type) {
        Coords<Scalar> at;
        for (const Scalar c : coordinates) at.axis.push_back(c);
        return w_.emit(arena_.convert(expressions_.read(node_.inputs[input], {{}, at}), type));
    }

    // ------------------------------------------------------------------------ tiles

    /// Rows of a matrix in shared memory, as vectors, zeros beyond the width; they lie a vector apart more than they are
    /// long, in different banks.
    struct Tile {
        std::string name;
        Expr memory;
        int64_t rows = 0, width = 0;
        int64_t vectors() const { return ceil_div(width, 4); }
        int64_t stride() const { return vectors() + 1; }
        int64_t size() const { return rows * vectors(); }
    };

    Tile declare_tile(const char* name, int64_t rows, int64_t width) {
        Tile tile{name, {}, rows, width};
        tile.memory = shared(name, rows * tile.stride(), Chunk::kFour);
        return tile;
    }

    void declare_tiles() {
        queries_ = declare_tile("queries", tile_.queries, width(kQuery));
        keys_ = declare_tile("keys", tile_.keys, width(kQuery));
        values_ = declare_tile("values", tile_.keys, width(kValue));
        if (pass_ != AttentionPass::kForward)
            cotangents_ = declare_tile("cotangents", tile_.queries, width(kValue));
        const int64_t columns = pass_ == AttentionPass::kBackwardKeys ? tile_.queries : tile_.keys;
        score_stride_ = columns + 1;
        if (pass_ != AttentionPass::kBackwardQueries)
            weights_ = shared("weights", row_tile() * score_stride_);
        if (pass_ == AttentionPass::kForward)
            of_lane_ = shared("of_lane", threads_);
        else
            slopes_ = shared("slopes", row_tile() * score_stride_);
        sum_of_lane_ = shared("sum_of_lane", threads_, Chunk::kFour);
    }

    /// The head's matrix of an operand.
    struct Matrix {
        size_t input = 0;
        Scalar batch, head;
    };

    /// Vectors of a tile that each invocation moves.
    int64_t vectors_each(const Tile& tile) const { return ceil_div(tile.size(), threads_); }
    /// Opens the loop over them, and the condition that there is one; returns its turn and number.
    std::array<Expr, 2> open_vectors(const Tile& tile) {
        const Expr u = w_.unrolled_for_("u", vectors_each(tile));
        return {u, w_.let("n", thread_ + u * threads_)};
    }
    bool is_whole(const Tile& tile) const { return tile.size() % threads_ == 0; }

    /// Begins to load a tile from row `first` on, with zeros from row `end` on, into an array.
    Expr fetch(const std::string& name, const Tile& tile, const Matrix& from, Expr first,
               Expr end) {
        const Expr held =
            w_.declare_chunks(name, Chunk::kFour, static_cast<uint32_t>(vectors_each(tile)));
        const auto [u, n] = open_vectors(tile);
        const Expr i = w_.let("i", first + n / tile.vectors());
        const Expr column = w_.let("column", n % tile.vectors() * 4);
        const Expr four = body_->element(held, u);
        w_.assign(four, zeros());
        w_.if_(is_whole(tile) ? i < end : logical_and(n < tile.size(), i < end));
        Coords<Scalar> at;
        for (const Scalar c : {from.batch, from.head, bound(i), bound(column)})
            at.axis.push_back(c);
        const ValueId value = node_.inputs[from.input];
        if (tile.width % 4 == 0) {
            w_.assign(four, access_.load_four(w_, value, at));
        } else {
            const Expr j = open_lanes(tile.width, column);
            at.axis[3] = at.axis[3] + bound(j);
            w_.assign(body_->chunk_element(four, j), w_.emit(expressions_.read(value, {{}, at})));
            w_.end();
        }
        w_.end();
        w_.end();
        return held;
    }
    /// A loop over the elements of a vector that are in a row of this width.
    Expr open_lanes(int64_t width, Expr column) {
        return w_.for_("j", index(0),
                       [&](Expr j) { return j < lesser(index(4), index(width) - column); });
    }

    /// Stores what fetch() has loaded.
    void keep(const Tile& tile, Expr held) {
        const auto [u, n] = open_vectors(tile);
        if (!is_whole(tile)) w_.if_(n < tile.size());
        const Expr place = n / tile.vectors() * tile.stride() + n % tile.vectors();
        w_.assign(body_->element(tile.memory, place), body_->element(held, u));
        if (!is_whole(tile)) w_.end();
        w_.end();
    }

    // ------------------------------------------------------------------------ products and sums

    /// The inner product of two rows, by components.
    Expr product(const char* name, const Tile& a, Expr a_row, const Tile& b, Expr b_row) {
        const Expr sum = w_.declare_chunk(name, Chunk::kFour, zeros());
        const Expr a_first = w_.let("of_" + a.name, a_row * a.stride());
        const Expr b_first = w_.let("of_" + b.name, b_row * b.stride());
        const Expr d = loop("d", a.vectors());
        w_.assign(sum, body_->multiply_add(body_->element(a.memory, a_first + d),
                                           body_->element(b.memory, b_first + d), sum));
        w_.end();
        return sum;
    }

    /// How the invocations of a row share sums of rows of `vectors` vectors: each has some columns, over every lanes-th of
    /// the rows that are summed.
    struct Shares {
        int64_t column_lanes, lanes, columns;
    };
    Shares shares(const Tile& tile) const {
        const int64_t vectors = tile.vectors(), column_lanes = std::min(tile_.lanes, vectors);
        return {column_lanes, tile_.lanes / column_lanes, ceil_div(vectors, column_lanes)};
    }
    template <class Statements>
    void each_column(const Tile& tile, const Statements& statements) {
        const int64_t columns = shares(tile).columns;
        if (columns == 1) return statements(index(0));
        const Expr c = w_.for_("c", index(0), [&](Expr at) { return at < columns; });
        statements(c);
        w_.end();
    }
    Expr declare_sums(const char* name, const Tile& tile) {
        const Expr sums =
            w_.declare_chunks(name, Chunk::kFour, static_cast<uint32_t>(shares(tile).columns));
        each_column(tile, [&](Expr c) { w_.assign(body_->element(sums, c), zeros()); });
        return sums;
    }

    /// sums += the invocation's share of the sum of the row's weights times rows of the tile, the first `count` of them.  A
    /// weight of zero adds nothing, whatever the row holds.  Some rows are read before the first is waited for.
    void add_rows(Expr sums, Expr weights, const Tile& tile, Expr count) {
        constexpr int64_t kAhead = 8;
        const Shares s = shares(tile);
        w_.block();
        const Expr own = w_.let("own", lane_ / s.column_lanes);
        const Expr first_weight = w_.let("first_weight", row_ * score_stride_);
        const Expr k = w_.for_(
            "k", own, [&](Expr at) { return at < count; }, index(s.lanes * kAhead));
        const Expr u = w_.unrolled_for_("u", kAhead);
        const Expr behind = w_.let("behind", k + u * s.lanes);
        const Expr at = w_.let("at", lesser(behind, index(tile.rows - 1)));
        const Expr weight = w_.let("weight", body_->element(weights, first_weight + at));
        const bool all_sum = s.lanes * s.column_lanes == tile_.lanes;
        const Expr counts =
            all_sum ? behind < tile.rows : logical_and(behind < tile.rows, own < s.lanes);
        const Expr w = w_.let("w", select(counts, weight, number(0)));
        const Expr first = w_.let("first", at * tile.stride());
        each_column(tile, [&](Expr c) {
            const Expr column =
                lesser(lane_ % s.column_lanes + c * s.column_lanes, index(tile.vectors() - 1));
            const Expr four = w_.let("four", body_->element(tile.memory, first + column));
            w_.accumulate(body_->element(sums, c),
                          select(w == number(0), zeros(), body_->scale(four, w)));
        });
        w_.end();
        w_.end();
        w_.end();
    }

    /// Adds up what the invocations of a row have of each column, in order, if there are several.
    void add_lanes(Expr sums, const Tile& tile) {
        const Shares s = shares(tile);
        if (s.lanes == 1) return;
        const Expr sum = body_->element(sums, index(0));
        w_.block();
        w_.barrier();
        w_.assign(body_->element(sum_of_lane_, thread_), sum);
        w_.barrier();
        const Expr first = w_.let("first", thread_ - lane_ + lane_ % s.column_lanes);
        const auto is_next = [&](Expr l) { return l < s.lanes; };
        const Expr l = w_.for_("l", index(1), is_next);
        w_.accumulate(sum, body_->element(sum_of_lane_, first + l * s.column_lanes));
        w_.end();
        w_.end();
    }

    /// Stores the row of a head's matrix: sums, times the factor if there is one.
    void store_row(size_t output, const Matrix& of, Expr row, const Tile& tile, Expr sums,
                   Expr factor = {}) {
        const Shares s = shares(tile);
        const ValueId value = node_.outputs[output];
        w_.if_(lane_ < s.column_lanes);
        each_column(tile, [&](Expr c) {
            const Expr column = w_.let("column", (lane_ + c * s.column_lanes) * 4);
            const Expr sum = body_->element(sums, c);
            const Expr four = w_.let("four", factor ? body_->scale(sum, factor) : sum);
            const bool is_exact = tile.vectors() % s.column_lanes == 0;
            if (!is_exact) w_.if_(column < tile.width);
            Coords<Scalar> at;
            for (const Scalar coordinate : {of.batch, of.head, bound(row), bound(column)})
                at.axis.push_back(coordinate);
            if (tile.width % 4 == 0) {
                const Expr elements[] = {lane_of(four, 0), lane_of(four, 1), lane_of(four, 2),
                                         lane_of(four, 3)};
                access_.store_vector(w_, node_, value, at, elements);
            } else {
                const Expr j = open_lanes(tile.width, column);
                at.axis[3] = at.axis[3] + bound(j);
                access_.store(w_, node_, value, access_.store_place(node_, value, at, 0),
                              body_->chunk_element(four, j));
                w_.end();
            }
            if (!is_exact) w_.end();
        });
        w_.end();
    }

    // ------------------------------------------------------------------------ scores

    /// One of the heads of one of the batch, and which keys its queries may see.
    struct Sequence {
        Expr batch, head;
        Scalar batch_coordinate, head_coordinate, key_head_coordinate;
        Expr keys;    ///< how many there are
        Expr offset;  ///< position of query 0 among the keys
    };

    Sequence sequence_of(Expr pair) {
        Sequence s;
        s.batch = w_.let("batch", pair / heads());
        s.head = w_.let("head", pair % heads());
        s.batch_coordinate = bound(s.batch);
        s.head_coordinate = bound(s.head);
        s.key_head_coordinate = bound(w_.let("key_head", s.head / (heads() / key_heads())));
        s.keys = key_count_;
        s.offset = index(attrs_.integer("past"));
        if (attrs_.flag("lengths")) {
            const size_t lengths =
                attention_input_count(pass_) + static_cast<size_t>(attrs_.integer("mask"));
            const Expr length =
                w_.let("length", read(lengths, {s.batch_coordinate}, ScalarType::kI32));
            s.keys = w_.let("keys", lesser(length, key_count_));
            s.offset = w_.let("offset", length - query_count_);
        }
        return s;
    }
    Matrix matrix(size_t input, const Sequence& s) const {
        const bool is_of_keys = input == kKey || input == kValue;
        return {input, s.batch_coordinate, is_of_keys ? s.key_head_coordinate : s.head_coordinate};
    }

    /// The first key that query i may see, and the one after the last.
    Expr first_key(const Sequence& s, Expr i) const {
        const int64_t left = attrs_.integer("left");
        return left < 0 ? index(0) : larger(i + s.offset - left, index(0));
    }
    Expr last_key(const Sequence& s, Expr i) const {
        const int64_t right = attrs_.integer("right");
        Expr last = s.keys;
        if (attrs_.flag("causal")) last = lesser(last, i + s.offset + 1);
        if (right >= 0) last = lesser(last, i + s.offset + (right + 1));
        return last;
    }

    /// Sets `to` to the score of query i and key j where that is seen, from their inner product; slope: a variable that
    /// becomes the derivative of the score with respect to the scaled product.
    void set_score(Expr to, const Sequence& s, Expr i, Expr j, Expr product, Expr slope = {}) {
        w_.if_(
            logical_and(logical_and(i < query_count_, j >= first_key(s, i)), j < last_key(s, i)));
        Expr score = w_.let("scaled", product * number(attrs_.real("scale")));
        if (const double softcap = attrs_.real("softcap"); softcap > 0) {
            const Expr t = w_.let("t", body_->operation(ScalarOp::kTanh, score / number(softcap)));
            score = w_.let("capped", number(softcap) * t);
            if (slope) w_.assign(slope, number(1) - t * t);
        }
        if (!attrs_.flag("mask")) {
            w_.assign(to, score);
            return w_.end();
        }
        const size_t input = attention_input_count(pass_);
        const bool is_bool = graph_.values[node_.inputs[input]].dtype == DType::kBool;
        const auto along = [&](int axis, Scalar at) {
            return shape(input)[axis].is_one() ? arena_.index(0) : at;
        };
        const Expr mask = read(input,
                               {along(0, s.batch_coordinate), along(1, s.head_coordinate),
                                along(2, bound(i)), along(3, bound(j))},
                               is_bool ? ScalarType::kBool : ScalarType::kF32);
        if (is_bool) w_.if_(mask);
        w_.assign(to, is_bool ? score : score + mask);
        if (is_bool) w_.end();
        w_.end();
    }

    /// exp(score - log_total), 0 where nothing is to be seen.
    Expr weight_of(Expr score, Expr log_total) const {
        return select(score == hidden(), number(0),
                      body_->operation(ScalarOp::kExp, score - log_total));
    }

    // ------------------------------------------------------------------------ forward

    void forward(Expr pair, Expr first_query) {
        const Sequence s = sequence_of(pair);
        const Expr query = w_.let("query", first_query + row_);
        const Expr next_queries =
            fetch("next_queries", queries_, matrix(kQuery, s), first_query, query_count_);
        const Expr sums = declare_sums("sums", values_);
        const Expr largest = w_.declare("largest", ScalarType::kF32, hidden());
        const Expr total = w_.declare("total", ScalarType::kF32, number(0));  // of the lane's keys
        const Walk walk = open_keys(s, first_query);
        const Expr next_keys = fetch("next_keys", keys_, matrix(kKey, s), walk.first, walk.end);
        const Expr next_values =
            fetch("next_values", values_, matrix(kValue, s), walk.first, walk.end);
        w_.barrier();
        w_.if_(walk.first == walk.begin);
        keep(queries_, next_queries);
        w_.end();
        keep(keys_, next_keys);
        keep(values_, next_values);
        w_.barrier();
        const Expr scores = forward_scores(s, query, walk);
        const Expr now = w_.let("now", largest_of_row(largest));
        const Expr kept = w_.let("kept", weight_of(largest, now));
        w_.assign(largest, now);
        w_.accumulate(total, kept, ScalarOp::kMul);
        each_column(values_, [&](Expr c) {
            const Expr sum = body_->element(sums, c);
            w_.assign(sum, body_->scale(sum, kept));
        });
        forward_weights(scores, now, total);
        w_.barrier();
        add_rows(sums, weights_, values_, walk.count);
        w_.end();

        add_lanes(sums, values_);
        w_.barrier();
        w_.assign(body_->element(of_lane_, thread_), total);
        w_.barrier();
        const Expr totals = w_.declare_chunk("totals", Chunk::kFour, zeros());
        const Expr l = w_.unrolled_for_("l", tile_.lanes / 4);
        w_.accumulate(totals, four_of_row(l));
        w_.end();
        const Expr all = w_.let("all", total_of(totals));
        w_.if_(query < query_count_);
        const Expr is_none = w_.let("is_none", all == number(0));
        const Expr factor = w_.let("factor", select(is_none, number(0), number(1) / all));
        store_row(0, matrix(kQuery, s), query, values_, sums, factor);
        w_.if_(lane_ == 0);
        const Expr log = body_->operation(ScalarOp::kLog, all);
        Coords<Scalar> at;
        for (const Scalar c : {s.batch_coordinate, s.head_coordinate, bound(query)})
            at.axis.push_back(c);
        access_.store(w_, node_, node_.outputs[1],
                      access_.store_place(node_, node_.outputs[1], at, 0),
                      w_.let("log_total", select(is_none, number(0), largest + log)));
        w_.end();
        w_.end();
    }

    /// A loop over tiles of the keys that the tile's queries may see.
    struct Walk {
        Expr begin, end, first, count;
    };
    Walk open_keys(const Sequence& s, Expr first_query) {
        Walk walk;
        const Expr last_query = lesser(first_query + tile_.queries, query_count_) - 1;
        walk.end = w_.let("end", last_key(s, last_query));
        walk.begin = w_.let("begin", first_key(s, first_query) / tile_.keys * tile_.keys);
        walk.first = w_.for_(
            "first", walk.begin, [&](Expr at) { return at < walk.end; }, index(tile_.keys));
        walk.count = w_.let("count", lesser(index(tile_.keys), walk.end - walk.first));
        return walk;
    }

    int64_t keys_each() const { return ceil_div(tile_.keys, tile_.lanes); }

    /// The scores of the lane's keys; shows the largest to the others of the row.
    Expr forward_scores(const Sequence& s, Expr query, const Walk& walk) {
        const Expr scores =
            w_.declare_array("score", ScalarType::kF32, static_cast<uint32_t>(keys_each()));
        const Expr largest = w_.declare("tile_largest", ScalarType::kF32, hidden());
        const Expr u = w_.unrolled_for_("u", keys_each());
        const Expr k = w_.let("k", lane_ + u * tile_.lanes);
        const Expr score = body_->element(scores, u);
        w_.assign(score, hidden());
        w_.if_(k < walk.count);
        const Expr sum = product("product", queries_, row_, keys_, k);
        set_score(score, s, query, w_.let("key", walk.first + k), total_of(sum));
        w_.end();
        w_.assign(largest, larger_score(largest, w_.let("this_score", score)));
        w_.end();
        w_.assign(body_->element(of_lane_, thread_), largest);
        w_.barrier();
        return scores;
    }

    /// What four neighbouring lanes of the row have shown.
    Expr four_of_row(Expr l) {
        const Expr first = w_.let("of_four", row_ * tile_.lanes + l * 4);
        std::vector<Expr> four;
        for (int64_t i = 0; i < 4; ++i) four.push_back(body_->element(of_lane_, first + i));
        return body_->compose(four);
    }

    Expr largest_of_row(Expr before) {
        const Expr largest = w_.declare("of_row", ScalarType::kF32, before);
        const Expr l = w_.unrolled_for_("l", tile_.lanes / 4);
        const Expr four = w_.let("four", four_of_row(l));
        const Expr low = w_.let("low", larger_score(lane_of(four, 0), lane_of(four, 1)));
        const Expr high = w_.let("high", larger_score(lane_of(four, 2), lane_of(four, 3)));
        const Expr both = w_.let("both", larger_score(low, high));
        w_.assign(largest, larger_score(largest, both));
        w_.end();
        return largest;
    }

    void forward_weights(Expr scores, Expr largest, Expr total) {
        const Expr u = w_.unrolled_for_("u", keys_each());
        const Expr score = w_.let("this_score", body_->element(scores, u));
        const Expr weight = w_.let("w", weight_of(score, largest));
        w_.accumulate(total, weight);
        const Expr k = w_.let("k", lane_ + u * tile_.lanes);
        const bool is_exact = tile_.keys % tile_.lanes == 0;
        if (!is_exact) w_.if_(k < tile_.keys);
        w_.assign(body_->element(weights_, row_ * score_stride_ + k), weight);
        if (!is_exact) w_.end();
        w_.end();
    }

    // ------------------------------------------------------------------------ backward

    /// What the gradient needs to know of a query beyond its vectors.
    struct RowFacts {
        Expr log_total, common_part;
    };
    RowFacts facts_of(const Sequence& s, Expr query) {
        const Scalar at = bound(query);
        const auto fact = [&](size_t input) {
            return read(input, {s.batch_coordinate, s.head_coordinate, at}, ScalarType::kF32);
        };
        return {fact(kLogTotal), fact(kCommonPart)};
    }

    /// Stores the weight of a query and key and the cotangent of their product where they are asked for, zeros where the
    /// key is not seen.  place: in `slopes`.
    template <class Facts>
    void backward_score(const Sequence& s, Expr is_inside, Expr query_row, Expr key_row, Expr query,
                        Expr key, const Facts& facts_of_query, Expr place) {
        const bool stores_weights = pass_ == AttentionPass::kBackwardKeys;
        const Expr to_score = w_.declare("to_score", ScalarType::kF32, number(0));
        const Expr weight = w_.declare("w", ScalarType::kF32, number(0));
        w_.if_(is_inside);
        const RowFacts facts = facts_of_query();
        const Expr scored = product("product", queries_, query_row, keys_, key_row);
        const Expr weighed = product("of_weight", cotangents_, query_row, values_, key_row);
        const Expr slope = w_.declare("slope", ScalarType::kF32, number(1));
        const Expr score = w_.declare("score", ScalarType::kF32, hidden());
        set_score(score, s, query, key, total_of(scored), slope);
        w_.if_(score != hidden());
        w_.assign(weight, body_->operation(ScalarOp::kExp, score - facts.log_total));
        w_.assign(to_score, weight * (total_of(weighed) - facts.common_part) * slope *
                                number(attrs_.real("scale")));
        w_.end();
        w_.end();
        if (stores_weights) w_.assign(body_->element(weights_, place), weight);
        w_.assign(body_->element(slopes_, place), to_score);
    }

    void backward_queries(Expr pair, Expr first_query) {
        const Sequence s = sequence_of(pair);
        const Expr query = w_.let("query", first_query + row_);
        const Expr next_queries =
            fetch("next_queries", queries_, matrix(kQuery, s), first_query, query_count_);
        const Expr next_cotangents =
            fetch("next_cotangents", cotangents_, matrix(kAttentionCotangent, s), first_query,
                  query_count_);
        const RowFacts facts = facts_of(s, w_.let("query_inside", lesser(query, query_count_ - 1)));
        const Expr sums = declare_sums("sums", queries_);
        const Walk walk = open_keys(s, first_query);
        const Expr next_keys = fetch("next_keys", keys_, matrix(kKey, s), walk.first, walk.end);
        const Expr next_values =
            fetch("next_values", values_, matrix(kValue, s), walk.first, walk.end);
        w_.barrier();
        w_.if_(walk.first == walk.begin);
        keep(queries_, next_queries);
        keep(cotangents_, next_cotangents);
        w_.end();
        keep(keys_, next_keys);
        keep(values_, next_values);
        w_.barrier();
        const Expr k = w_.for_(
            "k", lane_, [&](Expr at) { return at < tile_.keys; }, index(tile_.lanes));
        backward_score(
            s, k < walk.count, row_, k, query, w_.let("key", walk.first + k), [&] { return facts; },
            w_.let("place", row_ * score_stride_ + k));
        w_.end();
        w_.barrier();
        add_rows(sums, slopes_, keys_, walk.count);
        w_.end();
        add_lanes(sums, queries_);
        w_.if_(query < query_count_);
        store_row(0, matrix(kQuery, s), query, queries_, sums);
        w_.end();
    }

    void backward_keys(Expr key_pair, Expr first_key_of_tile) {
        const Expr batch = w_.let("batch_of_keys", key_pair / key_heads());
        const Expr key_head = w_.let("head_of_keys", key_pair % key_heads());
        const Scalar batch_coordinate = bound(batch), head_coordinate = bound(key_head);
        const int64_t heads_each = heads() / key_heads();
        const Expr key = w_.let("key", first_key_of_tile + row_);
        const Expr next_keys = fetch("next_keys", keys_, {kKey, batch_coordinate, head_coordinate},
                                     first_key_of_tile, key_count_);
        const Expr next_values =
            fetch("next_values", values_, {kValue, batch_coordinate, head_coordinate},
                  first_key_of_tile, key_count_);
        const Expr is_first =
            w_.declare("is_first", ScalarType::kBool, body_->constant(1, ScalarType::kBool));
        const Expr to_key = declare_sums("to_key", keys_);
        const Expr to_value = declare_sums("to_value", values_);
        const Expr first_head = w_.let("first_head", key_head * heads_each);
        const Expr head =
            w_.for_("of_head", first_head, [&](Expr at) { return at < first_head + heads_each; });
        const Sequence s = sequence_of(batch * heads() + head);
        const Expr first = w_.for_(
            "first", index(0), [&](Expr at) { return at < query_count_; }, index(tile_.queries));
        const Expr count = w_.let("count", lesser(index(tile_.queries), query_count_ - first));
        // Windows move with the query: neither end of the tile may see these keys.
        w_.if_(logical_and(last_key(s, first + count - 1) > first_key_of_tile,
                           first_key(s, first) < first_key_of_tile + tile_.keys));
        const Expr next_queries =
            fetch("next_queries", queries_, matrix(kQuery, s), first, query_count_);
        const Expr next_cotangents = fetch("next_cotangents", cotangents_,
                                           matrix(kAttentionCotangent, s), first, query_count_);
        w_.barrier();
        w_.if_(is_first);
        keep(keys_, next_keys);
        keep(values_, next_values);
        w_.end();
        w_.assign(is_first, body_->constant(0, ScalarType::kBool));
        keep(queries_, next_queries);
        keep(cotangents_, next_cotangents);
        w_.barrier();
        const Expr q = w_.for_(
            "q", lane_, [&](Expr at) { return at < tile_.queries; }, index(tile_.lanes));
        const Expr query = w_.let("query", first + q);
        backward_score(
            s, q < count, q, row_, query, key, [&] { return facts_of(s, query); },
            w_.let("place", row_ * score_stride_ + q));
        w_.end();
        w_.barrier();
        add_rows(to_key, slopes_, queries_, count);
        add_rows(to_value, weights_, cotangents_, count);
        w_.end();
        w_.end();
        w_.end();
        add_lanes(to_key, keys_);
        add_lanes(to_value, values_);
        w_.if_(key < key_count_);
        store_row(0, {kKey, batch_coordinate, head_coordinate}, key, keys_, to_key);
        store_row(1, {kValue, batch_coordinate, head_coordinate}, key, values_, to_value);
        w_.end();
    }

    // ------------------------------------------------------------------------ launch

    KernelDraft draft() {
        std::string name(node_.op->name);
        if (pass_ == AttentionPass::kForward) name += "_forward";
        KernelDraft kernel = finish(std::move(name), threads_);
        kernel.grid[0] = workgroups();
        const Shape &q = shape(kQuery), &k = shape(kKey);
        const Dim scores = Shape{q[0], q[1], q[2], k[2]}.element_count();
        const auto rows = static_cast<int64_t>(options_.rows_capacity);
        kernel.flops =
            static_cast<uint64_t>(2 * scores.resolve(rows) * (width(kQuery) + width(kValue)));
        return kernel;
    }

    /// One for each pair of batch and head and each tile of rows; of those beyond the device's limit each takes several.
    GridAxis workgroups() const {
        const Dim pairs = pair_count(), length = shape(row_input())[2];
        const auto tile = static_cast<uint64_t>(row_tile());
        GridAxis axis;
        if (length.is_batch) {
            // Not less than the pairs times the tiles, rounded up, of any number of rows.
            const auto count = static_cast<uint64_t>(pairs.count);
            axis.work = {count * (tile - 1), count * static_cast<uint64_t>(length.count)};
            axis.tile = static_cast<uint32_t>(tile);
        } else {
            axis.work = work_of({pairs.count * ceil_div(length.count, row_tile()), pairs.is_batch});
        }
        const uint64_t groups = axis.work.at(options_.rows_capacity) / axis.tile + 1;
        const uint64_t most = options_.caps.max_compute_work_group_count_x;
        axis.tile *= static_cast<uint32_t>(groups / most + 1);
        return axis;
    }

    const Attrs& attrs_;
    const AttentionPass pass_;
    const AttentionTile tile_;
    const int64_t threads_;
    const bool is_rolled_;
    int64_t score_stride_ = 0;  ///< of weights and slopes, which lie row by row
    Expr thread_, row_, lane_, query_count_, key_count_;
    Tile queries_, keys_, values_, cotangents_;
    Expr weights_, slopes_, of_lane_, sum_of_lane_;
};

}  // namespace

// The order of tiles was measured, so all have one cost.
const KernelFamily kAttentionFamily = {
    .name = "attention",
    .matches =
        [](const KernelTask& task) {
            return task.group.kind == GroupKind::kCustom &&
                   task.node().op->traits.attention != AttentionPass::kNone;
        },
    .write =
        [](const KernelTask& task, const KernelChoice& choice) {
            return AttentionKernel(task, std::get<AttentionTile>(choice)).run();
        },
    .candidates = [](const KernelTask& task) -> std::vector<KernelChoice> {
        const std::vector<AttentionTile> tiles =
            attention_tiles(task.graph, task.node(), task.options.caps, task.options.rows_capacity);
        return {tiles.begin(), tiles.end()};
    }};

}  // namespace hearth
