// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// SIMT interpreter of kernel bodies on the CPU, with checks for races and invalid accesses.

#include "compiler/reference/run_kernel.hpp"

#include "compiler/ir/scalar_operands.hpp"
#include "compiler/ir/scalar_operation.hpp"
#include "compiler/kernel/instructions.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/core/convert.hpp>
#include <hearth/core/philox.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace hearth {

namespace {

using Mask = std::vector<uint8_t>;     ///< per invocation of a workgroup: true if active
using Values = std::vector<uint64_t>;  ///< per invocation: a value of 32 or 64 bits
using Elements = std::vector<Values>;  ///< per element of a chunk; a scalar has one

float f32(uint64_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
}

bool is_any(const Mask& mask) {
    return std::find(mask.begin(), mask.end(), 1) != mask.end();
}
Mask without(const Mask& a, const Mask& b) {
    Mask result(a.size());
    for (size_t t = 0; t < a.size(); ++t) result[t] = a[t] && !b[t];
    return result;
}

/// An access: the invocation and its position between barriers.
struct Toucher {
    static constexpr uint64_t kSeveral = ~uint64_t{0};
    uint64_t invocation = 0;
    uint64_t subgroup = 0, subgroup_interval = 0;  ///< between barriers of the subgroup

    /// True if this access is ordered before `later`: by a subgroup barrier, or by program order.
    bool is_before(const Toucher& later) const {
        return invocation == later.invocation ||
               (subgroup == later.subgroup && subgroup_interval < later.subgroup_interval);
    }
};

/// Accesses of an element since the last workgroup barrier that ordered its memory.
struct Touch {
    uint64_t interval = 0;  ///< between barriers
    bool is_written = false, is_read = false;
    bool by_subgroups = false;  ///< read by several subgroups
    Toucher writer, reader;

    void begin(uint64_t now) {
        if (interval == now) return;
        *this = {};
        interval = now;
    }
    /// Records a read.  True if it races with a write of another invocation.
    bool read(Toucher who, uint64_t now) {
        begin(now);
        const bool races = is_written && !writer.is_before(who);
        if (is_read && reader.subgroup != who.subgroup) by_subgroups = true;
        if (is_read && !reader.is_before(who)) who.invocation = Toucher::kSeveral;
        is_read = true;
        reader = who;
        return races;
    }
    /// Records a write.  True if it races with an access of another invocation.
    bool write(const Toucher& who, uint64_t now) {
        begin(now);
        const bool races = (is_written && !writer.is_before(who)) ||
                           (is_read && (by_subgroups || !reader.is_before(who)));
        is_written = true;
        writer = who;
        return races;
    }
};

struct Cell {
    uint64_t bits = 0;
    bool is_set = false;
};

class KernelRun {
  public:
    KernelRun(const Body& body, const KernelLaunch& launch, std::span<OperandMemory> operands)
        : body_(body),
          launch_(launch),
          operands_(operands),
          cells_(body.locals.size()),
          shared_touches_(body.locals.size()),
          bound_(body.buffers.size()) {
        for (const Local& local : body.locals)
            counts_.push_back(local.length * elements_of(local.chunk));
        for (const OperandMemory& operand : operands)
            touches_.emplace_back(static_cast<size_t>(operand.tensor.element_count()));
    }

    Status run() {
        for (workgroup_ = 0; workgroup_ < launch_.workgroups && error_.ok(); ++workgroup_) {
            for (size_t i = 0; i < body_.locals.size(); ++i) {
                const Local& local = body_.locals[i];
                const bool is_shared = local.kind == LocalKind::kShared;
                const uint32_t count = counts_[i];
                cells_[i].assign(is_shared ? count : size_t{count} * body_.threads, {});
                if (is_shared) shared_touches_[i].assign(count, {});
            }
            subgroup_interval_.assign(body_.threads, 1);
            for (size_t b = 0; b < body_.buffers.size(); ++b)
                bound_[b].assign(body_.threads, static_cast<uint32_t>(b));
            Frame frame{Mask(body_.threads), {}};
            name_ = "main";
            block(body_.statements, Mask(body_.threads, 1), frame, nullptr);
        }
        return error_;
    }

  private:
    /// Activation of a function.
    struct Frame {
        Mask left;  ///< invocations that have returned
        Elements result;
    };

    /// Number of elements of a chunk or fragment per invocation.
    uint32_t elements_of(Chunk chunk) const {
        if (!is_fragment(chunk)) return length_of(chunk);
        const auto [lines, columns] = body_.shape_of(chunk);
        return lines * columns / body_.subgroup_size;
    }

    void fail(size_t invocation, const std::string& what) {
        if (!error_.ok()) return;
        error_ = internal_error(launch_.label + ", " + name_ + ", workgroup " +
                                std::to_string(workgroup_) + ", invocation " +
                                std::to_string(invocation) + ": " + what);
    }

    // Messages are built only on failure, because these checks run at each access.
    static std::string place(const std::string& memory, int64_t element) {
        return memory + "[" + std::to_string(element) + "]";
    }
    void fail_unset(size_t t, const std::string& memory, int64_t element) {
        fail(t, "reads " + place(memory, element) + ", which nothing has written");
    }
    void fail_reading_race(size_t t, const std::string& memory, int64_t element) {
        fail(t, "a race: reads " + place(memory, element) + ", which another invocation writes");
    }
    void fail_writing_race(size_t t, const std::string& memory, int64_t element) {
        fail(t, "a race: writes " + place(memory, element) +
                    ", which another invocation reads or writes");
    }

    /// An access of a buffer, which no barrier orders.
    Toucher anywhere(size_t invocation) const {
        return {uint64_t{workgroup_} * body_.threads + invocation};
    }
    Toucher in_workgroup(size_t invocation) const {
        const uint64_t subgroup =
            body_.subgroup_size == 0 ? 0 : uint64_t{invocation} / body_.subgroup_size;
        return {invocation, subgroup, subgroup_interval_[subgroup]};
    }

    // ------------------------------------------------------------------------ memory

    /// The cell of an invocation's local, or null if out of bounds.
    Cell* cell(uint64_t local, size_t invocation, int32_t index) {
        const Local& l = body_.locals[local];
        const uint32_t count = counts_[local];
        if (index < 0 || index >= static_cast<int32_t>(count)) {
            fail(invocation, "element " + std::to_string(index) + " of " + l.name + ", which has " +
                                 std::to_string(count));
            return nullptr;
        }
        const size_t first = l.kind == LocalKind::kShared ? 0 : invocation * size_t{count};
        return &cells_[local][first + static_cast<size_t>(index)];
    }

    /// may_be_unset: unwritten elements read as NaN, so that using them shows in the results.
    uint64_t read_local(uint64_t local, size_t t, int32_t index, bool may_be_unset = false) {
        const Cell* c = cell(local, t, index);
        if (c == nullptr) return 0;
        const Local& l = body_.locals[local];
        if (!c->is_set && may_be_unset)
            return std::bit_cast<uint32_t>(std::numeric_limits<float>::quiet_NaN());
        if (!c->is_set) fail_unset(t, l.name, index);
        if (l.kind == LocalKind::kShared &&
            shared_touches_[local][static_cast<size_t>(index)].read(in_workgroup(t), interval_))
            fail_reading_race(t, l.name, index);
        return c->bits;
    }

    void write_local(uint64_t local, size_t t, int32_t index, uint64_t bits) {
        Cell* c = cell(local, t, index);
        if (c == nullptr) return;
        *c = {bits, true};
        const Local& l = body_.locals[local];
        if (l.kind == LocalKind::kShared &&
            shared_touches_[local][static_cast<size_t>(index)].write(in_workgroup(t), interval_))
            fail_writing_race(t, l.name, index);
    }

    /// Index, within its local's cells, of element `i` of an lvalue expression.
    Values index_of(const ExprNode& n, uint32_t i, const Mask& mask) {
        Values at(body_.threads, i);
        if (n.kind == ExprKind::kChunkElement) {
            const Values lane = values(n.in[1], mask);
            at = index_of(body_.expressions[n.in[0]], 0, mask);
            const uint32_t count = elements_of(body_.expressions[n.in[0]].chunk);
            for (size_t t = 0; t < at.size(); ++t) {
                const auto element = static_cast<uint32_t>(lane[t]);
                if (mask[t] && element >= count)
                    fail(t, "element " + std::to_string(element) + " of " + std::to_string(count));
                at[t] += element;
            }
        } else if (n.kind == ExprKind::kElement) {
            at = values(n.in[0], mask);
            for (uint64_t& element : at) element = element * elements_of(n.chunk) + i;
        }
        return at;
    }

    /// The local that an expression, or an element or lane of it, refers to.
    uint64_t local_of(const ExprNode& n) const {
        return n.kind == ExprKind::kChunkElement ? body_.expressions[n.in[0]].bits : n.bits;
    }

    void write_place(const ExprNode& to, const Elements& from, const Mask& mask) {
        for (uint32_t i = 0; i < from.size(); ++i) {
            const Values at = index_of(to, i, mask);
            for (size_t t = 0; t < mask.size() && error_.ok(); ++t)
                if (mask[t]) write_local(local_of(to), t, static_cast<int32_t>(at[t]), from[i][t]);
        }
    }

    /// The operand that a buffer is bound to in this invocation.
    uint32_t operand_of(uint64_t buffer, size_t t) {
        uint32_t at = static_cast<uint32_t>(buffer);
        while (body_.buffers[at].kind != BufferKind::kOperand) {
            if (bound_[at][t] == at) {
                fail(t, "reads " + body_.buffers[at].name + ", which is no operand yet");
                return 0;
            }
            at = static_cast<uint32_t>(bound_[at][t]);
        }
        return at;
    }

    bool is_inside(uint32_t operand, size_t t, int64_t element, const char* what) {
        const int64_t count = operands_[operand].tensor.element_count();
        if (element >= 0 && element < count) return true;
        fail(t, std::string(what) + " element " + std::to_string(element) + " of " +
                    body_.buffers[operand].name + ", which has " + std::to_string(count));
        return false;
    }

    uint64_t load(uint64_t buffer, size_t t, int64_t element) {
        const uint32_t operand = operand_of(buffer, t);
        if (!is_inside(operand, t, element, "loads")) return 0;
        const auto at = static_cast<size_t>(element);
        const std::string& name = body_.buffers[operand].name;
        if (!operands_[operand].is_written[at]) fail_unset(t, name, element);
        if (touches_[operand][at].read(anywhere(t), 0)) fail_reading_race(t, name, element);
        const HostTensor& tensor = operands_[operand].tensor;
        const ScalarType type = scalar_type(tensor.dtype());
        if (is_floating(type)) return bits_of(tensor.get(element), type);
        const int64_t number = tensor.get_int(element);
        return is_wide(type) ? static_cast<uint64_t>(number) : static_cast<uint32_t>(number);
    }

    void store(uint64_t buffer, size_t t, int64_t element, uint64_t bits) {
        const uint32_t operand = operand_of(buffer, t);
        if (!is_inside(operand, t, element, "stores")) return;
        const auto at = static_cast<size_t>(element);
        if (touches_[operand][at].write(anywhere(t), 0))
            fail_writing_race(t, body_.buffers[operand].name, element);
        operands_[operand].is_written[at] = true;
        HostTensor& tensor = operands_[operand].tensor;
        const ScalarType type = scalar_type(tensor.dtype());
        if (is_floating(type))
            tensor.set(element, value_of(bits, type));
        else
            tensor.set_int(element, static_cast<int64_t>(bits));
    }

    // ------------------------------------------------------------------------ expressions

    /// Evaluates all elements of an expression; numbers have one.
    Elements elements(uint32_t id, const Mask& mask) {
        const ExprNode& n = body_.expressions[id];
        const ExpressionInstruction& row = instruction_of(n.kind);
        if (n.kind == ExprKind::kCall) return call(n.bits, body_.arguments_of(n), mask);
        if (is_operation(n.kind)) return operation(n, mask);
        Elements result(elements_of(n.chunk), Values(body_.threads));
        if (is_fragment(n.chunk)) come_together(mask);
        if (row.evaluate != nullptr &&
            !(n.kind == ExprKind::kMultiplyAdd && is_fragment(n.chunk))) {
            std::array<Elements, 3> operands;
            for (size_t i = 0; i < operands.size(); ++i)
                if (row.in[i] != OperandType::kNone) operands[i] = elements(n.in[i], mask);
            fill(result, mask, [&](uint32_t i, size_t t) {
                return row.evaluate(n, i, OperandElements(operands, t));
            });
            return result;
        }
        evaluate(n, result, mask);
        return result;
    }

    /// The only element of a number.
    Values values(uint32_t id, const Mask& mask) { return std::move(elements(id, mask)[0]); }

    /// Sets all elements of the active invocations.
    template <class F>
    void fill(Elements& result, const Mask& mask, const F& value_of) {
        for (uint32_t i = 0; i < result.size(); ++i)
            for (size_t t = 0; t < mask.size() && error_.ok(); ++t)
                if (mask[t]) result[i][t] = value_of(i, t);
    }

    /// Sets the value of what depends on the dispatch, on memory, or on other invocations.
    void evaluate(const ExprNode& n, Elements& result, const Mask& mask) {
        const auto all = [&](uint64_t bits) { result[0].assign(body_.threads, bits); };
        const auto each = [&](const auto& value_of) { fill(result, mask, value_of); };
        const Values at = is_indexed(n.kind) ? values(n.in[0], mask) : Values();
        const auto index = [&](size_t t) { return static_cast<int32_t>(at[t]); };
        switch (n.kind) {
            case ExprKind::kConstant:
                return all(n.bits);
            case ExprKind::kRowCount:
                return all(static_cast<uint32_t>(launch_.rows));
            case ExprKind::kPushedWord:
                if (n.bits < launch_.words.size()) return all(launch_.words[n.bits]);
                return fail(0, "word " + std::to_string(n.bits) + " of " +
                                   std::to_string(launch_.words.size()));
            case ExprKind::kInvocation:
                return each([](uint32_t, size_t t) { return static_cast<uint32_t>(t); });
            case ExprKind::kWorkgroup:
                return along_axis(n, workgroup_, result, mask);
            case ExprKind::kWorkgroups:
                return along_axis(n, launch_.workgroups, result, mask);
            case ExprKind::kSubgroup:
                return each([&](uint32_t, size_t t) { return t / body_.subgroup_size; });
            case ExprKind::kSubgroupInvocation:
                return each([&](uint32_t, size_t t) { return t % body_.subgroup_size; });
            case ExprKind::kLength:
                return all(elements_of(body_.expressions[n.in[0]].chunk));
            case ExprKind::kLocal:
            case ExprKind::kElement:
                return read_place(n, result, mask);
            case ExprKind::kChunkElement:
                return chunk_element(n, result, mask);
            case ExprKind::kVector:
                return each([&](uint32_t i, size_t t) {
                    return read_local(n.bits, t, static_cast<int32_t>(i));
                });
            case ExprKind::kPack:
                each([&](uint32_t i, size_t t) {
                    return read_local(n.bits, t, static_cast<int32_t>(i));
                });
                return round_all(result);
            case ExprKind::kLoad:
                check_alignment(at, static_cast<uint32_t>(result.size()), mask);
                return each(
                    [&](uint32_t i, size_t t) { return load(n.bits, t, int64_t{index(t)} + i); });
            case ExprKind::kLoadChunk: {
                const auto length = static_cast<int64_t>(result.size());
                return each([&](uint32_t i, size_t t) {
                    return load(n.bits, t, int64_t{index(t)} * length + i);
                });
            }
            case ExprKind::kCompose:
                for (uint32_t i = 0; i < result.size(); ++i)
                    result[i] = values(body_.arguments_of(n)[i], mask);
                return;
            case ExprKind::kMultiplyAdd:
                result = matrix_product(elements(n.in[0], mask), elements(n.in[1], mask),
                                        elements(n.in[2], mask), mask);
                return;
            case ExprKind::kConvert:
                result = elements(n.in[0], mask);
                if (n.chunk != Chunk::kSums) round_all(result);
                return;
            default:
                HEARTH_ASSERT(false && "no value");
        }
    }

    static bool is_operation(ExprKind kind) {
        return kind == ExprKind::kOperation || kind == ExprKind::kFitting ||
               kind == ExprKind::kGreater || kind == ExprKind::kGreaterEqual;
    }
    static bool is_indexed(ExprKind kind) {
        return kind == ExprKind::kLoad || kind == ExprKind::kLoadChunk;
    }

    void read_place(const ExprNode& n, Elements& result, const Mask& mask) {
        for (uint32_t i = 0; i < result.size(); ++i) {
            const Values at = index_of(n, i, mask);
            for (size_t t = 0; t < mask.size() && error_.ok(); ++t)
                if (mask[t])
                    result[i][t] =
                        read_local(n.bits, t, static_cast<int32_t>(at[t]), n.may_be_unset);
        }
    }

    /// kWorkgroup or kWorkgroups.  linear: the workgroup's number among all, or their count.
    void along_axis(const ExprNode& n, uint32_t linear, Elements& result, const Mask& mask) {
        if (body_.across == 0) return fill(result, mask, [&](uint32_t, size_t) { return linear; });
        const Values across = values(body_.across, mask), down = values(body_.down, mask);
        fill(result, mask, [&](uint32_t, size_t t) {
            const uint64_t counts[] = {across[t], down[t], linear / (across[t] * down[t])};
            const uint64_t places[] = {linear % across[t], linear / across[t] % down[t], counts[2]};
            return (n.kind == ExprKind::kWorkgroups ? counts : places)[n.bits];
        });
    }

    void chunk_element(const ExprNode& n, Elements& result, const Mask& mask) {
        const ExprKind of = body_.expressions[n.in[0]].kind;
        if (of == ExprKind::kLocal || of == ExprKind::kElement) {
            const Values at = index_of(n, 0, mask);
            return fill(result, mask, [&](uint32_t, size_t t) {
                return read_local(local_of(n), t, static_cast<int32_t>(at[t]));
            });
        }
        const Elements all = elements(n.in[0], mask);
        const Values lane = values(n.in[1], mask);
        fill(result, mask, [&](uint32_t, size_t t) { return all[lane[t]][t]; });
    }

    static void round_all(Elements& elements) {
        for (Values& values : elements)
            for (uint64_t& bits : values)
                bits = scalar_operation(ScalarOp::kRoundF16, ScalarType::kF32, {bits, 0, 0});
    }

    // ------------------------------------------------------------------------ fragments
    //
    // The elements of a matrix, in row-major order, are dealt to the invocations of a subgroup
    // round robin.  No kernel may rely on that.

    void come_together(const Mask& mask) {
        for (size_t t = 0; t < mask.size(); ++t)
            if (mask[t] != mask[t / body_.subgroup_size * body_.subgroup_size])
                fail(t, "is not where others of its subgroup work on a fragment together");
    }

    /// Calls f(first invocation) for each active subgroup.
    template <class F>
    void for_each_subgroup(const Mask& mask, const F& f) {
        come_together(mask);
        for (size_t t = 0; t < mask.size() && error_.ok(); t += body_.subgroup_size)
            if (mask[t]) f(t);
    }

    /// Element `index` of the matrix that `fragment` holds.
    template <class E>
    auto& at(E& fragment, size_t first, size_t index) const {
        return fragment[index / body_.subgroup_size][first + index % body_.subgroup_size];
    }

    Elements matrix_product(const Elements& a, const Elements& b, const Elements& sum,
                            const Mask& mask) {
        const auto [m, n, k] = body_.matrix;
        Elements result = sum;
        for_each_subgroup(mask, [&, n = n, k = k, m = m](size_t first) {
            for (size_t i = 0; i < m; ++i)
                for (size_t j = 0; j < n; ++j)
                    for (size_t x = 0; x < k; ++x) {
                        uint64_t& to = at(result, first, i * n + j);
                        to = multiply_add(at(a, first, i * k + x), at(b, first, x * n + j), to);
                    }
        });
        return result;
    }

    void transfer(const Statement& s, const Mask& mask) {
        const ExprNode& fragment = body_.expressions[s.a];
        const ExprNode& memory = body_.expressions[s.arguments[0]];
        const auto [lines, columns] = body_.shape_of(fragment.chunk);
        const Values place = values(s.b, mask), stride = values(s.c, mask);
        const bool is_half = fragment.chunk != Chunk::kSums;
        const bool loads = s.kind == StatementKind::kLoadFragment;
        // In elements of the matrix; shared memory is addressed in units of four words.
        const int64_t unit = memory.kind == ExprKind::kBuffer ? 1 : is_half ? 8 : 4;
        Elements all = loads ? Elements(elements_of(fragment.chunk), Values(body_.threads))
                             : elements(s.a, mask);
        for_each_subgroup(mask, [&, columns = columns, lines = lines](size_t first) {
            for (size_t index = 0; index < size_t{lines} * columns && error_.ok(); ++index) {
                const size_t t = first + index % body_.subgroup_size;
                if (place[t] != place[first] || stride[t] != stride[first])
                    return fail(t, "has another place for a fragment than others of its subgroup");
                const auto i = static_cast<int64_t>(index / columns);
                const auto j = static_cast<int64_t>(index % columns);
                const int64_t line = s.by_columns ? j : i, inner = s.by_columns ? i : j;
                const int64_t element = unit * (static_cast<int32_t>(place[t]) +
                                                line * static_cast<int32_t>(stride[t])) +
                                        inner;
                uint64_t& number = at(all, first, index);
                if (memory.kind == ExprKind::kBuffer && loads)
                    number = load(memory.bits, t, element);
                else if (memory.kind == ExprKind::kBuffer)
                    store(memory.bits, t, element, number);
                else if (loads)
                    number = read_word(memory.bits, t, element, is_half, s.may_be_unset);
                else
                    write_word(memory.bits, t, element, is_half, static_cast<uint32_t>(number));
            }
        });
        if (loads && error_.ok()) write_place(fragment, all, mask);
    }

    uint64_t read_word(uint64_t local, size_t t, int64_t element, bool is_half, bool may_be_unset) {
        if (!is_half) return read_local(local, t, static_cast<int32_t>(element), may_be_unset);
        return half_of(read_local(local, t, static_cast<int32_t>(element / 2)),
                       static_cast<uint32_t>(element % 2));
    }

    /// The even invocation of a pair writes both halves of a word, one after the other.
    void write_word(uint64_t local, size_t t, int64_t element, bool is_half, uint32_t number) {
        if (!is_half) return write_local(local, t, static_cast<int32_t>(element), number);
        const auto word = static_cast<int32_t>(element / 2);
        Cell* c = cell(local, t, word);
        if (c == nullptr) return;
        const uint32_t shift = 16 * static_cast<uint32_t>(element % 2);
        const auto other = static_cast<uint32_t>(c->bits) & ~(0xffffu << shift);
        write_local(local, t - (shift != 0 ? 1 : 0), word, other | bits_of_half(number) << shift);
    }

    void check_alignment(const Values& at, uint32_t length, const Mask& mask) {
        for (size_t t = 0; t < mask.size(); ++t)
            if (mask[t] && static_cast<int32_t>(at[t]) % static_cast<int32_t>(length) != 0)
                fail(t, "a chunk of " + std::to_string(length) + " at element " +
                            std::to_string(static_cast<int32_t>(at[t])));
    }

    Elements operation(const ExprNode& n, const Mask& mask) {
        ScalarOp op = n.op;
        std::array<uint32_t, 3> in = n.in;
        if (n.kind == ExprKind::kGreater || n.kind == ExprKind::kGreaterEqual) {
            op = n.kind == ExprKind::kGreater ? ScalarOp::kLess : ScalarOp::kLessEqual;
            std::swap(in[0], in[1]);
        }
        if (n.kind == ExprKind::kFitting) check_fit(n, mask);
        const ScalarType type = body_.expressions[in[0]].type;
        const auto count = static_cast<size_t>(operand_count(op));
        std::array<Elements, 3> operands{elements(in[0], mask)};
        for (size_t i = 1; i < count; ++i)
            operands[i] = elements(in[i], asking(op, i, operands[0][0], mask));
        Elements result(elements_of(n.chunk), Values(body_.threads));
        fill(result, mask, [&](uint32_t i, size_t t) {
            std::array<uint64_t, 3> bits{};
            for (size_t k = 0; k < count; ++k)
                bits[k] = operands[k][std::min<size_t>(i, operands[k].size() - 1)][t];
            return scalar_operation(op, type, bits);
        });
        return result;
    }

    /// The invocations that evaluate an operand: kSelect, kAnd and kOr short-circuit.
    static Mask asking(ScalarOp op, size_t operand, const Values& first, const Mask& mask) {
        const bool is_select = op == ScalarOp::kSelect;
        if (!is_select && op != ScalarOp::kAnd && op != ScalarOp::kOr) return mask;
        const bool if_set = op == ScalarOp::kAnd || (is_select && operand == 1);
        Mask result(mask.size());
        for (size_t t = 0; t < mask.size(); ++t) result[t] = mask[t] && (first[t] != 0) == if_set;
        return result;
    }

    /// What a conversion gives of values within these two, or a power of a base from the first one on.
    static std::array<double, 2> fitting_range(ScalarOp op) {
        switch (op) {
            case ScalarOp::kToI32:
                return {-2147483649.0, 0x1p31};
            case ScalarOp::kToU32:
                return {-1, 0x1p32};
            case ScalarOp::kToI64:
                return {-0x1.8p63, 0x1p63};
            case ScalarOp::kToU64:
                return {-1, 0x1p64};
            default:
                return {-0x1p-149, std::numeric_limits<double>::infinity()};
        }
    }

    void check_fit(const ExprNode& n, const Mask& mask) {
        const Values from = values(n.in[0], mask);
        const auto [below, beyond] = fitting_range(n.op);
        const bool may_be_infinite = n.op == ScalarOp::kPow;
        for (size_t t = 0; t < mask.size(); ++t) {
            if (!mask[t]) continue;
            const auto value = static_cast<double>(f32(from[t]));
            const bool fits = (value > below && value < beyond) ||
                              (may_be_infinite && (std::isnan(value) || value == beyond));
            if (!fits) fail(t, "converts " + std::to_string(value) + ", which was said to fit");
        }
    }

    Elements call(uint64_t index, std::span<const uint32_t> arguments, const Mask& mask) {
        const BodyFunction& function = body_.functions[index];
        std::vector<Elements> values_of;
        for (size_t i = 0; i < arguments.size(); ++i) {
            const ExprNode& parameter = body_.expressions[function.parameters[i]];
            const bool has_value =
                parameter.kind != ExprKind::kBuffer && !is_result(function.parameters[i]);
            values_of.push_back(has_value ? elements(arguments[i], mask) : Elements{});
        }
        return call(index, values_of, arguments, mask);
    }

    bool is_result(uint32_t parameter) const {
        const ExprNode& n = body_.expressions[parameter];
        return n.kind == ExprKind::kLocal && body_.locals[n.bits].kind == LocalKind::kResult;
    }

    /// arguments: expressions, used where parameters are buffers or results.
    Elements call(uint64_t index, std::span<const Elements> values_of,
                  std::span<const uint32_t> arguments, const Mask& mask) {
        const BodyFunction& function = body_.functions[index];
        for (size_t i = 0; i < values_of.size(); ++i) {
            const ExprNode& parameter = body_.expressions[function.parameters[i]];
            if (parameter.kind == ExprKind::kBuffer)
                bind(parameter.bits, body_.expressions[arguments[i]].bits, mask);
            else if (is_result(function.parameters[i]))
                forget(parameter.bits, mask);
            else
                assign(parameter.bits, values_of[i], mask);
        }
        Frame frame{Mask(body_.threads),
                    Elements(length_of(function.result_chunk), Values(body_.threads))};
        const std::string caller = std::exchange(name_, function.name);
        block(function.statements, mask, frame, nullptr);
        if (function.has_result)
            for (size_t t = 0; t < mask.size(); ++t)
                if (mask[t] && !frame.left[t]) fail(t, function.name + " ends without a result");
        for (size_t i = 0; i < arguments.size(); ++i)
            if (is_result(function.parameters[i]))
                write_place(body_.expressions[arguments[i]], elements(function.parameters[i], mask),
                            mask);
        name_ = caller;
        return std::move(frame.result);
    }

    // ------------------------------------------------------------------------ statements

    void assign(uint64_t local, const Elements& from, const Mask& mask) {
        for (size_t i = 0; i < from.size(); ++i)
            for (size_t t = 0; t < mask.size(); ++t)
                if (mask[t]) write_local(local, t, static_cast<int32_t>(i), from[i][t]);
    }

    void forget(uint64_t local, const Mask& mask) {
        for (size_t t = 0; t < mask.size(); ++t)
            for (uint32_t i = 0; mask[t] && i < counts_[local]; ++i)
                cell(local, t, static_cast<int32_t>(i))->is_set = false;
    }

    void bind(uint64_t buffer, uint64_t from, const Mask& mask) {
        for (size_t t = 0; t < mask.size(); ++t)
            if (mask[t]) bound_[buffer][t] = operand_of(from, t);
    }

    Mask holds(uint32_t condition, const Mask& mask) {
        const Values values_of = values(condition, mask);
        Mask result(mask.size());
        for (size_t t = 0; t < mask.size(); ++t) result[t] = mask[t] && values_of[t] != 0;
        return result;
    }

    /// State of a loop iteration.
    struct Turn {
        Mask ended;   ///< invocations that continue with the next iteration
        Mask broken;  ///< invocations that left the loop
    };

    /// turn: iteration of the innermost loop.
    void block(std::span<const Statement> statements, const Mask& entered, Frame& frame,
               Turn* turn) {
        for (const Statement& s : statements) {
            Mask mask = without(entered, frame.left);
            if (turn != nullptr) mask = without(without(mask, turn->ended), turn->broken);
            if (!is_any(mask) || !error_.ok()) return;
            execute(s, mask, frame, turn);
        }
    }

    void execute(const Statement& s, const Mask& mask, Frame& frame, Turn* turn) {
        switch (s.kind) {
            case StatementKind::kLet:
                return assign(s.local, elements(s.a, mask), mask);
            case StatementKind::kLetCall:
                return assign(s.local, call(s.function, s.arguments, mask), mask);
            case StatementKind::kDeclare:
                forget(s.local, mask);
                if (s.a != 0 && is_lanes(s.local)) {
                    const Values first = values(s.a, mask);
                    for (size_t t = 0; t < mask.size(); ++t)
                        for (uint32_t i = 0; mask[t] && i < body_.locals[s.local].length; ++i)
                            write_local(s.local, t, static_cast<int32_t>(i), first[t]);
                } else if (s.a != 0) {
                    assign(s.local, elements(s.a, mask), mask);
                }
                return;
            case StatementKind::kDeclareBuffer: {
                const uint64_t buffer = body_.expressions[s.a].bits;
                for (size_t t = 0; t < mask.size(); ++t)
                    if (mask[t]) bound_[buffer][t] = static_cast<uint32_t>(buffer);
                return;
            }
            case StatementKind::kAssign:
            case StatementKind::kAccumulate:
                return set(s, mask);
            case StatementKind::kLoadVector:
            case StatementKind::kStoreVector:
                return vector(s, mask);
            case StatementKind::kLoadLanes:
            case StatementKind::kStoreLanes:
                return lanes(s, mask);
            case StatementKind::kMultiplyAdd:
                return multiply_add_lanes(s, mask);
            case StatementKind::kBlock: {
                const std::string caller = name_;
                if (!s.label.empty()) name_ += ", " + s.label;
                block(s.body, mask, frame, turn);
                name_ = caller;
                return;
            }
            case StatementKind::kStoreChunk: {
                const Values at = values(s.a, mask);
                const Elements all = elements(s.b, mask);
                for (size_t i = 0; i < all.size(); ++i)
                    for (size_t t = 0; t < mask.size() && error_.ok(); ++t)
                        if (mask[t])
                            store(s.buffer, t,
                                  static_cast<int32_t>(at[t]) * static_cast<int64_t>(all.size()) +
                                      static_cast<int64_t>(i),
                                  all[i][t]);
                return;
            }
            case StatementKind::kStoreElements: {
                const Values at = values(s.a, mask);
                Elements all;
                for (const uint32_t id : s.arguments)
                    for (Values& element : elements(id, mask)) all.push_back(std::move(element));
                check_alignment(at, static_cast<uint32_t>(all.size()), mask);
                for (size_t i = 0; i < all.size(); ++i)
                    for (size_t t = 0; t < mask.size() && error_.ok(); ++t)
                        if (mask[t])
                            store(s.buffer, t,
                                  int64_t{static_cast<int32_t>(at[t])} + static_cast<int64_t>(i),
                                  all[i][t]);
                return;
            }
            case StatementKind::kStore: {
                const Values at = values(s.a, mask), value = values(s.b, mask);
                for (size_t t = 0; t < mask.size() && error_.ok(); ++t)
                    if (mask[t]) store(s.buffer, t, static_cast<int32_t>(at[t]), value[t]);
                return;
            }
            case StatementKind::kSpread: {
                Elements all;
                for (const uint32_t id : s.arguments)
                    for (Values& element : elements(id, mask)) all.push_back(std::move(element));
                return assign(s.local, all, mask);
            }
            case StatementKind::kLoadFragment:
            case StatementKind::kStoreFragment:
                return transfer(s, mask);
            case StatementKind::kFor:
                return loop(s, mask, frame);
            case StatementKind::kIf: {
                const Mask yes = holds(s.a, mask), no = without(mask, yes);
                block(s.body, yes, frame, turn);
                block(s.otherwise, no, frame, turn);
                return;
            }
            case StatementKind::kBarrier:
                return barrier(mask);
            case StatementKind::kSubgroupBarrier:
                if (body_.subgroup_size == 0) return;
                come_together(mask);
                for (size_t t = 0; t < mask.size(); t += body_.subgroup_size)
                    if (mask[t]) ++subgroup_interval_[t / body_.subgroup_size];
                return;
            case StatementKind::kCall:
                (void)call(s.function, s.arguments, mask);
                return;
            case StatementKind::kReturn: {
                if (s.a != 0) {
                    const Elements result = elements(s.a, mask);
                    for (size_t i = 0; i < result.size(); ++i)
                        for (size_t t = 0; t < mask.size(); ++t)
                            if (mask[t]) frame.result[i][t] = result[i][t];
                }
                for (size_t t = 0; t < mask.size(); ++t)
                    if (mask[t]) frame.left[t] = true;
                return;
            }
            case StatementKind::kContinue:
            case StatementKind::kBreak: {
                HEARTH_ASSERT(turn != nullptr);
                Mask& gone = s.kind == StatementKind::kBreak ? turn->broken : turn->ended;
                for (size_t t = 0; t < mask.size(); ++t)
                    if (mask[t]) gone[t] = true;
                return;
            }
        }
    }

    void set(const Statement& s, const Mask& mask) {
        const ExprNode& to = body_.expressions[s.a];
        if (to.kind == ExprKind::kBuffer) return bind(to.bits, body_.expressions[s.b].bits, mask);
        Elements from = elements(s.b, mask);
        if (s.kind == StatementKind::kAccumulate) {
            const Elements before = elements(s.a, mask);
            for (size_t i = 0; i < from.size(); ++i)
                for (size_t t = 0; t < mask.size(); ++t)
                    from[i][t] = scalar_operation(s.op, to.type, {before[i][t], from[i][t], 0});
        }
        write_place(to, from, mask);
    }

    void vector(const Statement& s, const Mask& mask) {
        const Values at = values(s.a, mask);
        const auto length = static_cast<int32_t>(body_.locals[s.local].length);
        for (size_t t = 0; t < mask.size() && error_.ok(); ++t) {
            if (!mask[t]) continue;
            const auto first = static_cast<int32_t>(at[t]);
            if (first % length != 0)
                fail(t, "a vector of " + std::to_string(length) + " at element " +
                            std::to_string(first));
            for (int32_t i = 0; i < length; ++i)
                if (s.kind == StatementKind::kLoadVector)
                    write_local(s.local, t, i, load(s.buffer, t, int64_t{first} + i));
                else
                    store(s.buffer, t, int64_t{first} + i, read_local(s.local, t, i));
        }
    }

    bool is_lanes(uint64_t local) const { return body_.locals[local].kind == LocalKind::kLanes; }

    void lanes(const Statement& s, const Mask& mask) {
        const Values at = values(s.a, mask);
        const uint64_t array = s.b == 0 ? 0 : body_.expressions[s.b].bits;
        for (size_t t = 0; t < mask.size() && error_.ok(); ++t)
            for (uint32_t i = 0; mask[t] && i < body_.locals[s.local].length; ++i) {
                const auto lane = static_cast<int32_t>(i);
                const int32_t from = static_cast<int32_t>(at[t]) + lane;
                if (s.kind == StatementKind::kStoreLanes)
                    write_local(array, t, from, read_local(s.local, t, lane));
                else
                    write_local(s.local, t, lane,
                                s.b == 0 ? load(s.buffer, t, from) : read_local(array, t, from));
            }
    }

    void multiply_add_lanes(const Statement& s, const Mask& mask) {
        const ExprNode& a = body_.expressions[s.a];
        const bool has_lanes = a.kind == ExprKind::kLocal && is_lanes(a.bits);
        const Values one = has_lanes ? Values(body_.threads) : values(s.a, mask);
        const auto number = [](uint64_t bits) { return f32(bits); };
        for (size_t t = 0; t < mask.size() && error_.ok(); ++t)
            for (uint32_t i = 0; mask[t] && i < body_.locals[s.local].length; ++i) {
                const auto lane = static_cast<int32_t>(i);
                const float factor = number(has_lanes ? read_local(a.bits, t, lane) : one[t]);
                const float other = number(read_local(body_.expressions[s.b].bits, t, lane));
                const float sum = number(read_local(s.local, t, lane));
                write_local(s.local, t, lane,
                            std::bit_cast<uint32_t>(std::fma(factor, other, sum)));
            }
    }

    void loop(const Statement& s, Mask mask, Frame& frame) {
        const ScalarType type = body_.locals[s.local].type;
        assign(s.local, {values(s.a, mask)}, mask);
        for (;;) {
            mask = holds(s.b, mask);
            if (!is_any(mask) || !error_.ok()) return;
            Turn turn{Mask(mask.size()), Mask(mask.size())};
            block(s.body, mask, frame, &turn);
            mask = without(without(mask, frame.left), turn.broken);
            if (!error_.ok()) return;
            const Values amount = s.c == 0 ? Values(body_.threads, 1) : values(s.c, mask);
            for (size_t t = 0; t < mask.size(); ++t)
                if (mask[t])
                    write_local(
                        s.local, t, 0,
                        scalar_operation(s.op, type, {read_local(s.local, t, 0), amount[t], 0}));
        }
    }

    void barrier(const Mask& mask) {
        const auto missing = std::find(mask.begin(), mask.end(), false);
        if (missing != mask.end())
            fail(static_cast<size_t>(missing - mask.begin()),
                 "does not come to a barrier to which others come");
        ++interval_;
    }

    const Body& body_;
    const KernelLaunch& launch_;
    std::span<OperandMemory> operands_;
    Status error_;
    std::string name_;
    uint32_t workgroup_ = 0;
    uint64_t interval_ = 1;
    std::vector<uint64_t> subgroup_interval_;
    std::vector<uint32_t> counts_;                    ///< per local: cells per invocation
    std::vector<std::vector<Cell>> cells_;            ///< per local
    std::vector<std::vector<Touch>> shared_touches_;  ///< per local
    std::vector<std::vector<Touch>> touches_;         ///< per operand
    std::vector<Values> bound_;                       ///< per buffer and invocation: its binding
};

}  // namespace

OperandMemory OperandMemory::full(HostTensor tensor) {
    const auto count = static_cast<size_t>(tensor.element_count());
    return {std::move(tensor), std::vector<bool>(count, true)};
}

OperandMemory OperandMemory::empty(DType dtype, const Shape& shape) {
    HostTensor tensor(dtype, shape);
    const auto count = static_cast<size_t>(tensor.element_count());
    return {std::move(tensor), std::vector<bool>(count, false)};
}

Status run_kernel(const Body& body, const KernelLaunch& launch, std::span<OperandMemory> operands) {
    size_t count = 0;
    for (const BodyBuffer& buffer : body.buffers) {
        if (buffer.kind != BufferKind::kOperand) continue;
        if (count < operands.size() && operands[count].tensor.dtype() != buffer.dtype)
            return invalid_argument(launch.label + ": operand " + std::to_string(count) + " is " +
                                    std::string(name_of(operands[count].tensor.dtype())) +
                                    ", not " + std::string(name_of(buffer.dtype)));
        ++count;
    }
    if (operands.size() != count)
        return invalid_argument(launch.label + ": has " + std::to_string(operands.size()) +
                                " operands, not " + std::to_string(count));
    HEARTH_TRY(verify_body(body));
    return KernelRun(body, launch, operands).run();
}

}  // namespace hearth
