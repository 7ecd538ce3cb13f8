// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tracing: tensor code in C++ that builds a graph.
//
//     Trace trace("act");
//     Tensor x = trace.input("observation", {kBatch, 8});
//     Tensor w = trace.param("w", {2, 8}, Init::uniform(-0.1, 0.1));
//     trace.output("action", tanh(matmul(x, transpose(w))));

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>
#include <hearth/types.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

class Budget;
struct Graph;
class Trace;

/// A value of a trace.  It holds no data: using it appends to the trace.  Cheap to copy; valid as
/// long as its trace.  A Tensor created after the trace's first error carries that error and
/// propagates it, so code needs no check between operations.
class Tensor {
  public:
    Tensor() = default;
    Tensor(Trace* trace, uint32_t value) : trace_(trace), value_(value) {}

    bool ok() const;
    Trace* trace() const { return trace_; }
    uint32_t value() const { return value_; }
    /// Empty shape and f32 for a tensor that is not ok().
    /// Returned by value: the next operation on the trace may invalidate a reference.
    Shape shape() const;
    DType dtype() const;
    int rank() const { return shape().rank(); }
    Dim dim(int axis) const;  ///< negative axes count from the back

  private:
    Trace* trace_ = nullptr;
    uint32_t value_ = 0xffffffffu;
};

/// The params of a trace, in the order of declaration.  Functions that take a loss and a temporary
/// ParamList, as in `minimize(mse_loss(net(x), y), trace.params(), ...)`, use all params that the
/// trace has when they are called: compilers may evaluate `trace.params()` before the net declares
/// its params.  A list that has a name stays as it is.
class ParamList : public std::vector<Tensor> {
  public:
    using std::vector<Tensor>::vector;
    /// All params that the trace of `loss` has by now; this list if it is of another trace.
    ParamList current(const Tensor& loss) const;
};

/// Initial value of a param or state.  Random values depend on the seed given here and on the
/// param's name alone, never on the order of declarations.
struct Init {
    enum class Kind { kZeros, kConstant, kUniform, kNormal, kTruncatedNormal, kOrthogonal, kData };
    Kind kind = Kind::kZeros;
    double a = 0;  ///< the constant, the lower bound, the mean or the gain
    double b = 0;  ///< the upper bound or the standard deviation
    uint64_t seed = 0;
    std::shared_ptr<const HostTensor> data = {};

    static Init zeros() { return {}; }
    static Init constant(double value) { return {Kind::kConstant, value, 0, 0, nullptr}; }
    static Init uniform(double low, double high, uint64_t seed = 0) {
        return {Kind::kUniform, low, high, seed, nullptr};
    }
    static Init normal(double mean, double std, uint64_t seed = 0) {
        return {Kind::kNormal, mean, std, seed, nullptr};
    }
    /// Normal, redrawn if more than two standard deviations from the mean.
    static Init truncated_normal(double mean, double std, uint64_t seed = 0) {
        return {Kind::kTruncatedNormal, mean, std, seed, nullptr};
    }
    /// `gain` times a random matrix with orthonormal rows or columns, whichever are fewer (Saxe,
    /// McClelland and Ganguli, 2014).  The axes after the first are flattened.
    static Init orthogonal(double gain = 1, uint64_t seed = 0) {
        return {Kind::kOrthogonal, gain, 0, seed, nullptr};
    }
    static Init from(HostTensor data);

    /// The initial value for a tensor of this name, type and shape.
    HostTensor make(std::string_view name, DType dtype, const Shape& shape) const;
};

/// One capture: owns the graph being built and its first error.  Not copyable or movable: tensors
/// point to it.  One thread at a time.
class Trace {
  public:
    explicit Trace(std::string name);
    ~Trace();
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    /// A tensor that the application binds at each recording.  Only the first extent may be
    /// symbolic, as kBatch.
    Tensor input(std::string_view name, const Shape& shape, DType dtype = DType::kF32);
    /// A trained tensor.  A second call with the same name returns the same tensor (shapes must
    /// agree).
    Tensor param(std::string_view name, const Shape& shape, const Init& init = {},
                 DType dtype = DType::kF32);
    /// A tensor that persists between recordings and changes only by assign().
    Tensor state(std::string_view name, const Shape& shape, const Init& init = {},
                 DType dtype = DType::kF32);
    /// A state that brains do not hold: replay buffers, recurrent states of agents, status words.
    /// It is neither saved nor compared when a brain is loaded; loading or resetting a brain resets
    /// it to its initial value.
    Tensor non_persistent_state(std::string_view name, const Shape& shape, const Init& init = {},
                                DType dtype = DType::kF32);
    /// Makes params declared under `prefix` from now on ("critic.target": "critic.target.0.weight")
    /// states with the initial values of the params of the same names under `original`
    /// ("critic.0.weight").  params() does not list them, so no optimizer updates them; they change
    /// only by assign() and polyak_update() (hearth/optim.hpp).  For target networks, and for
    /// frozen reference policies.  Each trace that uses them must call this.
    void target_copy(std::string_view prefix, std::string_view original);

    Tensor constant(HostTensor data);
    Tensor constant(double value, DType dtype = DType::kF32);

    /// Names a result that the application can bind.  Errors, kept by the trace: a name given
    /// twice, a tensor of another trace.
    void output(std::string_view name, const Tensor& value);
    /// After the recording runs, `target` (a param, a state or an input) holds `value`.  Reads of
    /// `target` in this trace see the old contents.  To change only some rows: index_copy_
    /// (hearth/ops.hpp).
    ///
    /// For an input, the buffer that the application binds is written in place (the recurrent state
    /// of a policy, a simulation's positions): one binding, hearth_binding_info::is_inout, that
    /// cannot be given by value.  On the CPU the new contents are a result of the input's name.
    void assign(const Tensor& target, const Tensor& value);

    /// All params so far, in the order of declaration.
    ParamList params() const;

    /// Keeps the first error; later ones are ignored as consequences of it.
    void fail(Status status);
    const Status& status() const;

    /// The finished graph, canonical and verified, or the first error.
    Result<Graph> build();

    /// True if so many more values, and constants of so many more bytes, still fit; otherwise fails
    /// the trace.  Call it before a loop or an allocation whose size comes from a file.  A trace
    /// holds up to 2^24 values.
    bool has_room(uint64_t values, uint64_t constant_bytes = 0);
    /// For file readers: charges everything appended from now on to `budget`, and fails once it is
    /// spent.  Null: no limit.  The budget must outlive the appending.
    void set_limit(Budget* budget);
    Budget* budget() const;

    /// The graph as built so far.
    const Graph& graph() const;

  private:
    friend Graph& mutable_graph(Trace& trace);
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a);
Tensor operator+(const Tensor& a, double b);
Tensor operator-(const Tensor& a, double b);
Tensor operator*(const Tensor& a, double b);
Tensor operator/(const Tensor& a, double b);
Tensor operator+(double a, const Tensor& b);
Tensor operator-(double a, const Tensor& b);
Tensor operator*(double a, const Tensor& b);
Tensor operator/(double a, const Tensor& b);

}  // namespace hearth
