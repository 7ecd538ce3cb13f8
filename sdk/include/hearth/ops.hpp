// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Named operators.  All append to the trace of their operands and return the result.
//
// Element-wise operators broadcast as NumPy does: shapes are aligned at the last axis, and an
// extent of 1 stretches.  Operands of one call have one element type; cast() converts.  Negative
// axes count from the back.  After an error the result is a failed tensor, and the trace keeps the
// first error.

#pragma once

#include <hearth/loss.hpp>
#include <hearth/tensor.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace hearth {

/// Axes of a reduction; empty: all.
using Axes = std::vector<int64_t>;

// --- Element-wise arithmetic: a: [...], b: [...] -> broadcast shape ---

Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
/// Integers: rounds towards zero; division by zero gives zero.
Tensor div(const Tensor& a, const Tensor& b);
Tensor neg(const Tensor& x);
/// Floating-point.  A negative base needs a whole exponent (NaN otherwise).
Tensor pow(const Tensor& base, const Tensor& exponent);
Tensor pow(const Tensor& base, double exponent);
/// The remainder with the sign of the divisor, as Python's %.  Integers: modulo zero is zero.
Tensor mod(const Tensor& a, const Tensor& b);
/// The remainder with the sign of the dividend, as C's fmod.
Tensor fmod(const Tensor& a, const Tensor& b);
/// NaN if either operand is NaN, as NumPy's functions of these names.
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, double b);
Tensor maximum(const Tensor& a, double b);
Tensor abs(const Tensor& x);
/// -1, 0 or 1; NaN stays NaN.
Tensor sign(const Tensor& x);
Tensor reciprocal(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);  ///< 1 / sqrt(x)
Tensor square(const Tensor& x);

// --- Comparisons and logic: -> bool ---

Tensor equal(const Tensor& a, const Tensor& b);
Tensor not_equal(const Tensor& a, const Tensor& b);
Tensor less(const Tensor& a, const Tensor& b);
Tensor less_equal(const Tensor& a, const Tensor& b);
Tensor greater(const Tensor& a, const Tensor& b);
Tensor greater_equal(const Tensor& a, const Tensor& b);
Tensor equal(const Tensor& a, double b);
Tensor not_equal(const Tensor& a, double b);
Tensor less(const Tensor& a, double b);
Tensor less_equal(const Tensor& a, double b);
Tensor greater(const Tensor& a, double b);
Tensor greater_equal(const Tensor& a, double b);
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_xor(const Tensor& a, const Tensor& b);
Tensor logical_not(const Tensor& x);
Tensor is_nan(const Tensor& x);
/// True for infinities of the asked signs.
Tensor is_inf(const Tensor& x, bool positive = true, bool negative = true);

// --- Bits of integers ---

Tensor bitwise_and(const Tensor& a, const Tensor& b);
Tensor bitwise_or(const Tensor& a, const Tensor& b);
Tensor bitwise_xor(const Tensor& a, const Tensor& b);
Tensor bitwise_not(const Tensor& x);
/// x * 2^amount, modulo 2^bits of the type; zero for an amount outside [0, bits).
Tensor shift_left(const Tensor& x, const Tensor& amount);
/// floor(x / 2^amount); for an amount outside [0, bits) zero, or -1 where x is negative.
Tensor shift_right(const Tensor& x, const Tensor& amount);
/// The bits of x as another type of the same size.  Types of 64 bits and 16-bit floats: on the CPU
/// alone.
Tensor bitcast(const Tensor& x, DType dtype);

// --- Mathematics, element by element ---

Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tan(const Tensor& x);
Tensor asin(const Tensor& x);
Tensor acos(const Tensor& x);
Tensor atan(const Tensor& x);
Tensor atan2(const Tensor& y, const Tensor& x);
Tensor logaddexp(const Tensor& a, const Tensor& b);  ///< log(e^a + e^b), without overflow
Tensor sinh(const Tensor& x);
Tensor cosh(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor asinh(const Tensor& x);
Tensor acosh(const Tensor& x);
Tensor atanh(const Tensor& x);
Tensor erf(const Tensor& x);
Tensor floor(const Tensor& x);
Tensor ceil(const Tensor& x);
Tensor round(const Tensor& x);  ///< halves to the even neighbour

// --- Activations ---

Tensor relu(const Tensor& x);
Tensor leaky_relu(const Tensor& x, double alpha = 0.01);
/// x where x >= 0, else slope * x; slope broadcasts to x.
Tensor prelu(const Tensor& x, const Tensor& slope);
Tensor elu(const Tensor& x, double alpha = 1);
Tensor selu(const Tensor& x);
Tensor celu(const Tensor& x, double alpha = 1);
Tensor gelu(const Tensor& x);       ///< x * Phi(x), with the error function
Tensor gelu_tanh(const Tensor& x);  ///< its tanh approximation
Tensor silu(const Tensor& x);       ///< x * sigmoid(x)
Tensor mish(const Tensor& x);
Tensor softplus(const Tensor& x);
Tensor softsign(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor hard_sigmoid(const Tensor& x, double alpha = 0.2, double beta = 0.5);
Tensor hard_swish(const Tensor& x);
/// exp(x) / sum(exp(x)) along `axis`, without overflow.  A slice of minus infinities gives zeros.
Tensor softmax(const Tensor& x, int64_t axis = -1);
Tensor log_softmax(const Tensor& x, int64_t axis = -1);

// --- Choice and conversion ---

/// condition: bool [...]; yes, no: [...] -> broadcast shape.
Tensor where(const Tensor& condition, const Tensor& yes, const Tensor& no);
Tensor where(const Tensor& condition, const Tensor& yes, double no);
Tensor where(const Tensor& condition, double yes, const Tensor& no);
Tensor clamp(const Tensor& x, double low, double high);
/// `value` where the mask holds, else x; the mask broadcasts to x.
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);
/// x with zeros below (triu) or above (tril) diagonal k of its matrices; k > 0 lies above the main
/// one.
Tensor triu(const Tensor& x, int64_t k = 0);
Tensor tril(const Tensor& x, int64_t k = 0);
/// Floats become integers by truncation; anything but zero becomes true.
Tensor cast(const Tensor& x, DType dtype);
/// x itself, as a value of its own.
Tensor identity(const Tensor& x);

// --- Matrix products ---

/// a: [..., M, K], b: [..., K, N] -> [..., M, N]; the leading axes broadcast.  A vector on the left
/// is a row, on the right a column, and its axis is dropped from the result.
Tensor matmul(const Tensor& a, const Tensor& b);
/// The same with the last two axes of a or b read as swapped.
Tensor matmul(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b);
/// x: [..., in], weight: [out, in], bias: [out] or empty -> [..., out].
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

/// Einstein summation in NumPy's notation: "bij,bjk->bik".  Labels that the result lacks are summed
/// over; a label twice in one term reads a diagonal; "..." stands for axes that broadcast.
Tensor einsum(std::string_view equation, std::span<const Tensor> operands);
Tensor einsum(std::string_view equation, std::initializer_list<Tensor> operands);

// --- Attention ---

struct AttentionOptions {
    double scale = 0;          ///< 0: 1 / sqrt(width of q)
    double softcap = 0;        ///< c > 0: scores become c tanh(score / c)
    bool causal = false;       ///< query i sees keys up to i + past
    int64_t left_window = -1;  ///< how many keys before its own position a query sees; -1: all
    int64_t right_window = -1;
    int64_t past = 0;  ///< keys that were there before the first query (a cache)
    /// Integers [batch], or empty: only so many keys count, and the queries are the last of them.
    Tensor lengths;
};

/// softmax(scale q k^T + mask) v.  q: [batch, heads, queries, n], k: [batch, key_heads, keys, n],
/// v: [batch, key_heads, keys, m] -> [batch, heads, queries, m]; key_heads divides heads, and
/// neighbouring heads share one.  Heads and batch may be left out, of all three.
/// mask: bool (true: seen) or floats added to the scores; broadcasts to [batch, heads, queries,
/// keys].  A query that sees no key gives zeros.  Devices store no scores, forward or backward.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {},
                 const AttentionOptions& options = {});

/// What attention does with its scores, [batch, heads, queries, keys], up to this stage.
enum class AttentionStage { kScaled, kCapped, kMasked, kWeights };
/// The scores themselves, to look at; this does store them.  q, k and v of rank 4.
Tensor attention_scores(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                        const AttentionOptions& options, AttentionStage stage);

/// x: [..., n], cosines and sines: [..., r / 2], broadcasting to x but for the last axis.  Turns the
/// first r elements of each slice pair by pair: (a c - b s, a s + b c), with b r / 2 after a or,
/// interleaved, next to it (Su et al., 2021).
Tensor rotary_embedding(const Tensor& x, const Tensor& cosines, const Tensor& sines,
                        bool interleaved = false);

struct LinearAttentionOptions {
    double scale = 0;  ///< 0: 1 / sqrt(width of q)
    Tensor past;       ///< [batch, key_heads, n, m]; empty: zeros
    Tensor decay;      ///< log of what the state is multiplied by before each step, or empty
    Tensor beta;       ///< what part of v - k S is written in place of v, or empty: v is
};
struct LinearAttention {
    Tensor output, state;
};
/// Attention without softmax, by way of a state S: S = exp(decay) S + k^T v, or + beta k^T (v - k S);
/// output = scale q S.  q: [batch, heads, length, n], k: [batch, key_heads, length, n], v: [batch,
/// key_heads, length, m], decay and beta broadcast to k -> [batch, heads, length, m] and S.  The
/// length is fixed; with decay or beta each of its elements is a step of its own.
LinearAttention linear_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const LinearAttentionOptions& options = {});

struct CausalConv {
    Tensor output, state;
};
/// Depthwise convolution along the last axis that sees no later element: x: [n, channels, length],
/// weight: [channels, 1, k], bias: [channels] or empty, past: [n, channels, k - 1] or empty (zeros)
/// -> output of x's shape, and the last k - 1 elements as the past of the next call.
CausalConv causal_conv(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                       const Tensor& past = {});

// --- Recurrent cells: x: [n, in], h and c: [n, hidden] or empty (zeros) -> the next h (and c) ---

/// tanh(W_i x + b_i + W_h h + b_h); input_weight: [hidden, in], hidden_weight: [hidden, hidden],
/// biases: [hidden] or empty.
Tensor rnn_cell(const Tensor& x, const Tensor& h, const Tensor& input_weight,
                const Tensor& hidden_weight, const Tensor& input_bias = {},
                const Tensor& hidden_bias = {});
/// Weights and biases of the gates r, z and n stacked: [3 * hidden, ...], as in PyTorch.
Tensor gru_cell(const Tensor& x, const Tensor& h, const Tensor& input_weight,
                const Tensor& hidden_weight, const Tensor& input_bias = {},
                const Tensor& hidden_bias = {});
/// The cell above from step to step.  x: [n, length, in] with a fixed length; h: the states before the
/// first step, [n, hidden], or empty for zeros; resets: bool [n, length] or empty, where the state is
/// zero before that step.  -> [n, length, hidden], the states behind each step.  One kernel goes through
/// all steps, and one back, for states of up to 256 where a device has the shared memory (7 * hidden
/// floats or more); elsewhere steps are kernels of their own.
Tensor gru(const Tensor& x, const Tensor& h, const Tensor& input_weight,
           const Tensor& hidden_weight, const Tensor& input_bias = {},
           const Tensor& hidden_bias = {}, const Tensor& resets = {});
struct LstmState {
    Tensor h, c;
};
/// Those of i, f, g and o stacked: [4 * hidden, ...], as in PyTorch.
LstmState lstm_cell(const Tensor& x, const LstmState& state, const Tensor& input_weight,
                    const Tensor& hidden_weight, const Tensor& input_bias = {},
                    const Tensor& hidden_bias = {});

// --- Reductions: over `axes` (empty: all); keep_dims leaves them with extent 1 ---

Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
/// Over rows it divides by how many there are when the program runs.
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor max(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor min(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor prod(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
/// Of bools: whether any of them holds, or all do.
Tensor any(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor all(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
/// log(sum(exp(x))) without overflow.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
/// mean((x - mean(x))^2), or with n - correction in place of n.
Tensor var(const Tensor& x, const Axes& axes = {}, bool keep_dims = false, double correction = 0);
/// Index of the first largest (smallest) element along `axis`: i64.
Tensor argmax(const Tensor& x, int64_t axis = -1, bool keep_dims = false);
Tensor argmin(const Tensor& x, int64_t axis = -1, bool keep_dims = false);
/// The inverse of broadcasting: sums x over the axes along which `shape` was stretched to x's
/// shape.
Tensor sum_to(const Tensor& x, const Shape& shape);
/// Product of x's extents along `axes`, as a scalar of x's type (f32 if x holds no floats).
Tensor extent(const Tensor& x, const Axes& axes = {});

// --- Normalization: scale and bias may be empty ---

/// (x - mean) / sqrt(variance + epsilon), with both taken over `axes` (empty: all).  The moments of
/// half-precision elements are taken in f32, here and below.
Tensor normalize(const Tensor& x, const Axes& axes, double epsilon = 1e-5);
/// The same, scale and bias broadcast to x; usually over the last axes, whose extents they have.
Tensor layer_norm(const Tensor& x, const Axes& axes, const Tensor& scale = {},
                  const Tensor& bias = {}, double epsilon = 1e-5);
/// x / sqrt(mean(x^2) + epsilon) * scale (Zhang and Sennrich, 2019).
Tensor rms_norm(const Tensor& x, const Axes& axes, const Tensor& scale = {}, double epsilon = 1e-5);
/// x: [n, channels, places...]; each channel of each of the n by itself.  scale, bias: [channels].
Tensor instance_norm(const Tensor& x, const Tensor& scale = {}, const Tensor& bias = {},
                     double epsilon = 1e-5);
/// x: [n, channels, ...]; over groups of neighbouring channels, whose number `groups` divides.
Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& scale = {},
                  const Tensor& bias = {}, double epsilon = 1e-5);
/// x: [n, channels, ...]; mean, variance, scale and bias: [channels].
Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance,
                  const Tensor& scale = {}, const Tensor& bias = {}, double epsilon = 1e-5);
/// The same with the mean and variance of x itself, over all axes but the channels'.
Tensor batch_norm_train(const Tensor& x, const Tensor& scale = {}, const Tensor& bias = {},
                        double epsilon = 1e-5);
/// The mean and (population) variance of each channel of x: [n, channels, ...] -> [channels], which
/// a layer averages over steps; f32 for half-precision x.
struct BatchStatistics {
    Tensor mean, variance;
};
BatchStatistics batch_statistics(const Tensor& x);
/// x / max(norm of x over `axes`, epsilon); p = 1: sum of |x|, p = 2: Euclidean.
Tensor lp_normalize(const Tensor& x, const Axes& axes = {-1}, int64_t p = 2,
                    double epsilon = 1e-12);
/// x / (bias + alpha / size * s)^beta, s: sum of the squares of the `size` channels (axis 1) around.
Tensor local_response_norm(const Tensor& x, int64_t size, double alpha = 1e-4, double beta = 0.75,
                           double bias = 1);

// --- Shapes and movement ---

/// As many elements under another shape; one extent may be -1 and is then computed.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Joins the axes [first, last] to one.
Tensor flatten(const Tensor& x, int64_t first = 0, int64_t last = -1);
/// Drops axes of extent 1; empty: all of them.
Tensor squeeze(const Tensor& x, const Axes& axes = {});
/// Adds axes of extent 1 at these positions of the result.
Tensor unsqueeze(const Tensor& x, const Axes& axes);
/// Axis i of the result is axis permutation[i] of x; empty: all axes reversed.
Tensor transpose(const Tensor& x, const Axes& permutation = {});
/// Swaps two axes.
Tensor swap_axes(const Tensor& x, int64_t a, int64_t b);
/// Stretches extents of 1, and adds leading axes.
Tensor expand(const Tensor& x, const Shape& shape);
Tensor flip(const Tensor& x, const Axes& axes);
/// x repeats[i] times along axis i: one number for each axis.
Tensor tile(const Tensor& x, const std::vector<int64_t>& repeats);
/// x moved by `shift` places along `axis`; what passes the end comes in at the start.
Tensor roll(const Tensor& x, int64_t shift, int64_t axis);
Tensor concat(std::span<const Tensor> parts, int64_t axis);
Tensor concat(std::initializer_list<Tensor> parts, int64_t axis);
/// Joins along a new axis.
Tensor stack(std::span<const Tensor> parts, int64_t axis = 0);
/// Elements begin, begin + step, ... before `end` along one axis; both count from the back if
/// negative and are clamped, as in Python.  The symbolic axis cannot be cut; 0 to INT32_MAX is all of it.
Tensor slice(const Tensor& x, int64_t axis, int64_t begin, int64_t end, int64_t step = 1);
/// Pieces of the given extents along `axis`.
std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& extents, int64_t axis);
/// Adds `low[i]` elements before and `high[i]` after axis i; negative numbers cut.
Tensor pad(const Tensor& x, const std::vector<int64_t>& low, const std::vector<int64_t>& high,
           double value = 0);
/// x: [A..., N, B...], indices: integers [I...] -> [A..., I..., B...].  Negative indices count from
/// the back; what lies outside is clamped.
Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis = 0);
/// out[.., i, ..] = x[.., indices[.., i, ..], ..]; indices lies within x's extents but along `axis`.
Tensor gather_elements(const Tensor& x, const Tensor& indices, int64_t axis);
/// x: [B..., N..., R...], indices: integers [B..., I..., K] -> [B..., I..., R...]: the K numbers of
/// each tuple are coordinates on the K axes N, after `batch_dims` axes B in common.
Tensor gather_nd(const Tensor& x, const Tensor& indices, int64_t batch_dims = 0);
/// data with data[.., indices[.., i, ..], ..] = updates[.., i, ..] for all i: indices and updates
/// have one shape, within data's but along `axis`.  reduction: "none" (of updates to one place the
/// last stays), "add", "mul", "max" or "min" (combined with what data holds).  Negative indices
/// count from the back; updates outside are left out.  Deterministic.
Tensor scatter_elements(const Tensor& data, const Tensor& indices, const Tensor& updates,
                        int64_t axis, std::string_view reduction = "none");
/// data: [N..., R...], indices: [I..., K], updates: [I..., R...]; else as scatter_elements.
Tensor scatter_nd(const Tensor& data, const Tensor& indices, const Tensor& updates,
                  std::string_view reduction = "none");
/// cache: [B, ..., S, ...] (S at `axis`), update: the same with L <= S, begins: integers [B]: element
/// b of the result is cache[b] with update[b] from begins[b] on.  circular: what passes the end goes
/// on at the start; otherwise it is left out.
Tensor tensor_scatter(const Tensor& cache, const Tensor& update, const Tensor& begins, int64_t axis,
                      bool circular = false);
/// After the recording runs, rows of `target`, a param or state [N..., R...], hold `rows` [M, R...],
/// as Trace::assign() of a scatter would have it, but only they are written: the cost is that of the
/// rows, whatever the size of `target`.  indices: integers [M], or [M, K] for K leading axes of
/// `target`; negative ones count from the back, and those outside leave their row out.  Of several
/// rows meant for one place the last one stays.  Reads of `target` in this trace see the old
/// contents; where they would run at the same time there is a barrier in between.
/// are_distinct: the caller knows that no place is meant twice.  Then the indices are not compared,
/// which takes about M^2 / 64 reads for M rows; if one is meant twice, which row stays is undefined.
/// Errors, kept by the trace: shapes that do not fit, a target that is no param or state or that is
/// assigned already.
void assign_rows(const Tensor& target, const Tensor& indices, const Tensor& rows,
                 bool are_distinct = false);
/// The same for a ring [N, R...]: row i of `rows` [M, R...] goes to (begin + i) mod N.  begin:
/// integer [], not negative.  Of more rows than the ring has the last N stay.  Returns where the next
/// ones go, (begin + M) mod N, of begin's type.
Tensor assign_ring(const Tensor& target, const Tensor& begin, const Tensor& rows);

/// A single number and its name.
struct NamedScalar {
    std::string_view name;
    Tensor value;  ///< [], or one element
};
/// Names single numbers as one output: `name` [count], so that one buffer and one readback carry all
/// diagnostics of an entry.  Their names are in the program: hearth_program_find_element,
/// LoadedProgram::find_element.  Element type: theirs if all have one, else f32.
/// Errors, kept by the trace: none, equal or empty names, a tensor of more than one element.
void output_scalars(std::string_view name, std::span<const NamedScalar> scalars);
void output_scalars(std::string_view name, std::initializer_list<NamedScalar> scalars);

/// The number of each element, in row-major order.
Tensor iota(Trace& trace, const Shape& shape, DType dtype = DType::kI32);
/// indices: integers [I...] -> [I..., depth] (the new axis at `axis`): 1 where the index is, else
/// 0.
Tensor one_hot(const Tensor& indices, int64_t depth, int64_t axis = -1, DType dtype = DType::kF32);

// --- Convolution: x: [N, C, spatial...] with one to three spatial axes, "NCHW" ---

/// Numbers for each spatial axis.  Of each list, empty: ones (zeros for padding); one number: that
/// for every axis.
struct ConvOptions {
    std::vector<int64_t> strides;
    std::vector<int64_t> dilations;
    std::vector<int64_t> low;   ///< padding before the elements
    std::vector<int64_t> high;  ///< padding behind them; empty: as before
    int64_t groups = 1;
};

/// weight: [O, C / groups, kernel...], bias: [O] or none -> [N, O, P...], P = (size + low + high -
/// (kernel - 1) * dilation - 1) / stride + 1.  Depthwise: groups = C.
Tensor conv(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
            const ConvOptions& options = {});
/// The transposed convolution.  weight: [C, O / groups, kernel...], bias: [O] or none -> [N, O,
/// S...], S = (size - 1) * stride + (kernel - 1) * dilation + 1 - low - high + output_padding.
Tensor conv_transpose(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                      const ConvOptions& options = {},
                      const std::vector<int64_t>& output_padding = {});
/// The patches that a kernel of these extents sees (im2col): [N, C * taps, windows], zeros outside.
/// `options.groups` means nothing here and in fold.
Tensor unfold(const Tensor& x, const std::vector<int64_t>& kernel, const ConvOptions& options = {});
/// The adjoint of unfold (col2im): patches [N, C * taps, windows] are added where they came from ->
/// [N, C, extents...].
Tensor fold(const Tensor& patches, const std::vector<int64_t>& extents,
            const std::vector<int64_t>& kernel, const ConvOptions& options = {});

// --- Pooling: x: [N, C, spatial...] with one to three spatial axes ---

/// As ConvOptions, but the strides are the kernel's extents where none are given.
struct PoolOptions {
    std::vector<int64_t> strides;
    std::vector<int64_t> dilations;
    std::vector<int64_t> low;       ///< padding before the elements
    std::vector<int64_t> high;      ///< padding behind them; empty: as before
    bool ceil_mode = false;         ///< a last window may reach beyond the padding
    bool count_include_pad = true;  ///< avg_pool: divide by the padding's elements too
};

/// kernel: extents, or one number for all axes.  -> [N, C, windows...]
Tensor max_pool(const Tensor& x, const std::vector<int64_t>& kernel,
                const PoolOptions& options = {});
/// Where max_pool's results stand: i64 indices into the plane of their channel.
Tensor max_pool_indices(const Tensor& x, const std::vector<int64_t>& kernel,
                        const PoolOptions& options = {});
Tensor avg_pool(const Tensor& x, const std::vector<int64_t>& kernel,
                const PoolOptions& options = {});
/// (sum of |x|^p)^(1/p) over each window.
Tensor lp_pool(const Tensor& x, double p, const std::vector<int64_t>& kernel,
               const PoolOptions& options = {});
/// Windows so that there are `extents` of them: window i of an axis of n holds the elements
/// floor(i n / extent) up to ceil((i + 1) n / extent).
Tensor adaptive_avg_pool(const Tensor& x, const std::vector<int64_t>& extents);
Tensor adaptive_max_pool(const Tensor& x, const std::vector<int64_t>& extents);
/// The partial inverse of max_pool: x where `indices` say, zeros elsewhere -> [N, C, extents...].
Tensor max_unpool(const Tensor& x, const Tensor& indices, const std::vector<int64_t>& extents);
// --- Running sums, sorting ---

/// Sums of the elements up to each one along `axis`; exclusive: without the element itself; reverse:
/// from the end.  One pass, whatever the extent.
Tensor cumsum(const Tensor& x, int64_t axis, bool exclusive = false, bool reverse = false);
Tensor cumprod(const Tensor& x, int64_t axis, bool exclusive = false, bool reverse = false);
/// y[t] = x[t] + factor[t] * y[t - 1] along `axis`, from y[-1] = 0; reverse: from the end, with y[t +
/// 1].  x, factor: floating-point [...], one shape -> [...].
Tensor linear_scan(const Tensor& x, const Tensor& factor, int64_t axis, bool reverse = false);
/// Discounted sums along `axis` that start anew where an episode ends: y[t] = x[t] + discount * (1 -
/// ends[t]) * y[t + 1], from the end (reverse, the default), or with y[t - 1], from the begin.  ends:
/// bool, or floats from 0 to 1, broadcasting to x; discount: a number, or a tensor that broadcasts to
/// x.  Returns, generalized advantage estimates (of x = r + gamma v' (1 - end) - v, with gamma *
/// lambda) and V-trace are such sums.  One dispatch.
Tensor discounted_sum(const Tensor& x, double discount, const Tensor& ends, int64_t axis,
                      bool reverse = true);
Tensor discounted_sum(const Tensor& x, const Tensor& discount, const Tensor& ends, int64_t axis,
                      bool reverse = true);
/// Places along `axis` in the order of their elements: i64.  Stable; NaN counts as the largest.
Tensor argsort(const Tensor& x, int64_t axis = -1, bool descending = false);
Tensor sort(const Tensor& x, int64_t axis = -1, bool descending = false);

struct TopK {
    Tensor values;
    Tensor places;  ///< along the axis, i64
};
/// The k largest (or smallest) elements along `axis`, the first first; of equals the first in x.
TopK top_k(const Tensor& x, int64_t k, int64_t axis = -1, bool largest = true);
/// How many elements of sorted: [N] are less than each value - or, right, not greater: i64.
Tensor search_sorted(const Tensor& sorted, const Tensor& values, bool right = false);

// --- As many results as the data has: each has a capacity and a count ---

struct NonZero {
    Tensor places;  ///< [rank, capacity] i64: coordinates, in row-major order; -1 behind the last
    Tensor count;   ///< i64 []: how many there are, which may be more than the capacity
};
/// Where x is not zero (or true).  Only x's first axis may be symbolic.
NonZero nonzero(const Tensor& x, int64_t capacity);

struct Unique {
    Tensor values;  ///< [capacity], or slices of x along `axis`; what is behind the last has no use
    Tensor first;   ///< [capacity] i64: where each stands first; -1 behind the last
    Tensor inverse;  ///< i64, for each element (or slice) of x which of the values it is
    Tensor counts;   ///< [capacity] i64: how often each occurs; 0 behind the last
    Tensor count;    ///< i64 []: how many there are
};
/// The distinct elements of x, or slices along `axis`; sorted, or in the order of their first
/// places.  NaNs count as one.
Unique unique(const Tensor& x, int64_t capacity, std::optional<int64_t> axis = {},
              bool sorted = true);

struct NmsOptions {
    double overlap_threshold = 0;           ///< most intersection over union with a better box
    std::optional<double> score_threshold;  ///< boxes with a score up to this are left out
    bool centered = false;  ///< boxes are (x, y, width, height), not two opposite corners
};
/// boxes: [B, N, 4], scores: [B, C, N] -> i64 [B, C, count]: for each class the best boxes that
/// overlap no better one too much, the best first; -1 behind the last.  N is at most 65,536.
Tensor nms(const Tensor& boxes, const Tensor& scores, int64_t count,
           const NmsOptions& options = {});

/// x with the first lengths[b] elements along `time_axis` backwards, for each b of `batch_axis`.
Tensor reverse_sequence(const Tensor& x, const Tensor& lengths, int64_t time_axis = 0,
                        int64_t batch_axis = 1);

// --- Quantized numbers: (q - zero_point) * scale ---

/// round(x / scale) + zero_point, halves to even, in the range of `dtype`.  scale and zero_point (or
/// none): scalars; [x's extent along axis]; or, with blocks, x's shape with that extent divided by
/// `block`, rounded up.
Tensor quantize_linear(const Tensor& x, const Tensor& scale, const Tensor& zero_point, DType dtype,
                       int64_t axis = 1, int64_t block = 0);
/// (x - zero_point) * scale, with scale's element type.
Tensor dequantize_linear(const Tensor& x, const Tensor& scale, const Tensor& zero_point = {},
                         int64_t axis = 1, int64_t block = 0);
struct DynamicQuantized {
    Tensor values;      ///< u8, with x's shape
    Tensor scale;       ///< []
    Tensor zero_point;  ///< u8 []
};
/// u8 over the range of x and zero.
DynamicQuantized dynamic_quantize_linear(const Tensor& x);
/// a: integers [..., M, K], b: [..., K, N] -> i32 [..., M, N]: exact.  Zero points (or none): scalars,
/// or one for each row of a and each column of b.
Tensor matmul_integer(const Tensor& a, const Tensor& b, const Tensor& a_zero_point = {},
                      const Tensor& b_zero_point = {});

// --- Signals ---

struct DftOptions {
    int64_t length = 0;  ///< x is cut or filled with zeros to it; 0: x's extent
    bool inverse = false;
    /// Forward: only the frequencies up to length / 2; inverse: only those are given, and the result
    /// is real.
    bool onesided = false;
};
/// The discrete Fourier transform along `axis`.  x: [..., 1 or 2]: real, or real and imaginary parts
/// in the last axis -> [..., 2] (a onesided inverse: [..., 1]).  Costs length^2; at most 46,340.
Tensor dft(const Tensor& x, int64_t axis, const DftOptions& options = {});
/// x: [batch, length, 1 or 2], window: [frame_length] or none -> [batch, frames, frequencies, 2].
Tensor stft(const Tensor& x, int64_t frame_length, int64_t frame_step, const Tensor& window = {},
            bool onesided = true);
Tensor hann_window(Trace& trace, int64_t size, bool periodic = true, DType dtype = DType::kF32);
Tensor hamming_window(Trace& trace, int64_t size, bool periodic = true, DType dtype = DType::kF32);
Tensor blackman_window(Trace& trace, int64_t size, bool periodic = true, DType dtype = DType::kF32);
struct MelOptions {
    int64_t mel_bins = 0;
    int64_t dft_length = 0;
    double sample_rate = 0;  ///< hertz
    double lower_hertz = 0;
    double upper_hertz = 0;
};
/// [dft_length / 2 + 1, mel_bins]: multiplied with a spectrum from the right it gives mel bins.
Tensor mel_weight_matrix(Trace& trace, const MelOptions& options, DType dtype = DType::kF32);

// --- Linear algebra ---

/// The determinants of square matrices: [..., N, N] -> [...], N at most 64.
Tensor det(const Tensor& x);

// --- Images: x: [N, C, spatial...] ---

enum class Interpolation : uint8_t { kNearest, kLinear, kCubic };

struct InterpolateOptions {
    Interpolation mode = Interpolation::kLinear;
    bool align_corners = false;  ///< the first and last elements keep their places
    bool antialias = false;      ///< a wider filter where the result is smaller
};

/// x resized to these spatial extents, as PyTorch's interpolate: linear and cubic along each axis,
/// with half-pixel centres unless corners are aligned; nearest rounds down.
Tensor interpolate(const Tensor& x, const std::vector<int64_t>& extents,
                   const InterpolateOptions& options = {});

enum class PadMode : uint8_t {
    kConstant,
    kReflect,  ///< mirrored at the border's elements, which are not repeated
    kEdge,     ///< the nearest element
    kWrap,     ///< from the other end
};
/// Adds `low[i]` elements before and `high[i]` after axis i, made by the rule; negative numbers
/// cut.  kConstant adds zeros.
Tensor pad(const Tensor& x, const std::vector<int64_t>& low, const std::vector<int64_t>& high,
           PadMode mode);

enum class SamplePadding : uint8_t { kZeros, kBorder, kReflection };
struct GridSampleOptions {
    Interpolation mode = Interpolation::kLinear;
    SamplePadding padding = SamplePadding::kZeros;
    bool align_corners = false;  ///< -1 and 1 are centres of elements rather than their outer edges
};
/// x: [N, C, spatial...], grid: [N, places..., axes] with coordinates in [-1, 1], the innermost
/// axis first -> [N, C, places...].  As PyTorch's grid_sample, for 1 to 3 spatial axes.
Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options = {});
/// theta: [N, 2, 3] or [N, 3, 4] -> the grid [N, extents..., axes] of an affine map.
Tensor affine_grid(const Tensor& theta, const std::vector<int64_t>& extents,
                   bool align_corners = false);

/// [N, C r^2, H, W] -> [N, C, H r, W r]: each pixel's channels become a square.
Tensor pixel_shuffle(const Tensor& x, int64_t factor);
/// The inverse: [N, C, H r, W r] -> [N, C r^2, H, W].
Tensor pixel_unshuffle(const Tensor& x, int64_t factor);

/// Deformable convolution (Zhu et al., "Deformable ConvNets v2", 2019): the taps of `conv` at
/// places moved by offset: [N, offset_groups * taps * 2, P...], each scaled by mask: [N,
/// offset_groups * taps, P...] or none.  x: [N, C, H, W].
Tensor deform_conv(const Tensor& x, const Tensor& weight, const Tensor& offset, const Tensor& mask,
                   const Tensor& bias, const ConvOptions& options = {}, int64_t offset_groups = 1);

// --- Random numbers ---

/// Counter-based: element i of draw `counter` of the stream `key` is the same on every device.
/// counter: u32 [].  Draws with equal key and counter are equal.
Tensor random_uniform(const Tensor& counter, uint64_t key, const Shape& shape, double low = 0,
                      double high = 1, DType dtype = DType::kF32);
Tensor random_normal(const Tensor& counter, uint64_t key, const Shape& shape, double mean = 0,
                     double deviation = 1, DType dtype = DType::kF32);
/// How often the entries that use it ran before: u32 [], a counter for random numbers and for
/// schedules.  The state `name`, counted up by one in each recording, however often this is called.
Tensor run_counter(Trace& trace, std::string_view name = "steps");
/// probability: [...] -> bool [...]: true as often as it says.
Tensor bernoulli(const Tensor& counter, uint64_t key, const Tensor& probability);
/// scores: [..., C] -> i64 [...]: class c as often as softmax(scores)[c] says.
Tensor categorical(const Tensor& counter, uint64_t key, const Tensor& scores);
/// The numbers below `count` in random order: i64 [count].
Tensor random_permutation(const Tensor& counter, uint64_t key, int64_t count);
/// The key of a named stream under a seed.
uint64_t random_key(std::string_view name, uint64_t seed = 0);

}  // namespace hearth
