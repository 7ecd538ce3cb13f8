// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Named operators.  All append to the trace of their operands and return the result.
//
// Element-wise operators broadcast as NumPy does: shapes are aligned at the last axis, and an
// extent of 1 stretches.  Operands of one call have one element type; cast() converts.  Negative
// axes count from the back.  After an error the result is a failed tensor, and the trace keeps the
// first error.

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/loss.hpp>
#include <hearth/tensor.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace hearth {

/// Axes of a reduction; empty: all axes.
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
/// True for infinities of the selected signs.
Tensor is_inf(const Tensor& x, bool positive = true, bool negative = true);

// --- Bitwise operations on integers ---

Tensor bitwise_and(const Tensor& a, const Tensor& b);
Tensor bitwise_or(const Tensor& a, const Tensor& b);
Tensor bitwise_xor(const Tensor& a, const Tensor& b);
Tensor bitwise_not(const Tensor& x);
/// x * 2^amount, modulo 2^bits of the type; zero for an amount outside [0, bits).
Tensor shift_left(const Tensor& x, const Tensor& amount);
/// floor(x / 2^amount); for an amount outside [0, bits) zero, or -1 where x is negative.
Tensor shift_right(const Tensor& x, const Tensor& amount);
/// The bits of x as another type of the same size.  64-bit types and 16-bit floats: only on the
/// CPU.
Tensor bitcast(const Tensor& x, DType dtype);

// --- Element-wise mathematics ---

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
Tensor round(const Tensor& x);  ///< rounds half to even

// --- Activations ---

Tensor relu(const Tensor& x);
Tensor leaky_relu(const Tensor& x, double alpha = 0.01);
/// x where x >= 0, else slope * x; slope broadcasts to x.
Tensor prelu(const Tensor& x, const Tensor& slope);
Tensor elu(const Tensor& x, double alpha = 1);
Tensor selu(const Tensor& x);
Tensor celu(const Tensor& x, double alpha = 1);
Tensor gelu(const Tensor& x);       ///< x * Phi(x), with the error function
Tensor gelu_tanh(const Tensor& x);  ///< the tanh approximation of gelu
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

// --- Selection and conversion ---

/// condition: bool [...]; yes, no: [...] -> broadcast shape.
Tensor where(const Tensor& condition, const Tensor& yes, const Tensor& no);
Tensor where(const Tensor& condition, const Tensor& yes, double no);
Tensor where(const Tensor& condition, double yes, const Tensor& no);
Tensor clamp(const Tensor& x, double low, double high);
/// `value` where the mask holds, else x; the mask broadcasts to x.
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);
/// x with zeros below (triu) or above (tril) diagonal k of its matrices; k > 0 lies above the main
/// diagonal.
Tensor triu(const Tensor& x, int64_t k = 0);
Tensor tril(const Tensor& x, int64_t k = 0);
/// Floats are truncated to integers; any value but zero becomes true.
Tensor cast(const Tensor& x, DType dtype);
/// x as a separate value of the graph.
Tensor identity(const Tensor& x);

// --- Matrix products ---

/// a: [..., M, K], b: [..., K, N] -> [..., M, N]; the leading axes broadcast.  A vector on the left
/// is a row, on the right a column, and its axis is dropped from the result.
Tensor matmul(const Tensor& a, const Tensor& b);
/// As above, with the last two axes of a or b transposed.
Tensor matmul(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b);
/// x: [..., in], weight: [out, in], bias: [out] or empty -> [..., out].
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

/// Einstein summation in NumPy's notation: "bij,bjk->bik".  Labels that the result lacks are summed
/// over; a label that occurs twice in one term reads a diagonal; "..." stands for axes that
/// broadcast.
Tensor einsum(std::string_view equation, std::span<const Tensor> operands);
Tensor einsum(std::string_view equation, std::initializer_list<Tensor> operands);

// --- Attention ---

struct AttentionOptions {
    double scale = 0;          ///< 0: 1 / sqrt(head size of q)
    double softcap = 0;        ///< c > 0: scores become c tanh(score / c)
    bool causal = false;       ///< query i sees keys up to i + kv_cache_length
    int64_t left_window = -1;  ///< keys before its own position that a query sees; -1: all
    int64_t right_window = -1;
    int64_t kv_cache_length = 0;  ///< number of cached keys, which precede the first query
    /// Integers [batch], or empty: only the first lengths[b] keys count, and the queries are the
    /// last of them.
    Tensor lengths = {};
};

/// softmax(scale q k^T + mask) v.  q: [batch, heads, queries, n], k: [batch, key_heads, keys, n],
/// v: [batch, key_heads, keys, m] -> [batch, heads, queries, m]; key_heads divides heads, and
/// adjacent heads share one.  The heads and batch axes may be omitted, from all three alike.
/// mask: bool (true: seen) or floats added to the scores; broadcasts to [batch, heads, queries,
/// keys].  A query that sees no key gives zeros.  Devices do not materialize the scores, forward or
/// backward.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {},
                 const AttentionOptions& options = {});

/// Last operation applied to the scores that attention_scores() returns.
enum class AttentionStage { kScaled, kCapped, kMasked, kWeights };
/// The scores of attention(), [batch, heads, queries, keys], up to `stage`, for inspection; unlike
/// attention(), this materializes them.  q, k and v have rank 4.
Tensor attention_scores(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                        const AttentionOptions& options, AttentionStage stage);

/// Rotary position embedding (Su et al., 2021).  x: [..., n], cosines and sines: [..., r / 2],
/// which broadcast to x except along the last axis.  Rotates the first r elements of each slice in
/// pairs (a, b): (a c - b s, a s + b c).  b is r / 2 elements after a or, if interleaved, next to
/// it.
Tensor rotary_embedding(const Tensor& x, const Tensor& cosines, const Tensor& sines,
                        bool interleaved = false);

struct LinearAttentionOptions {
    double scale = 0;   ///< 0: 1 / sqrt(head size of q)
    Tensor past = {};   ///< [batch, key_heads, n, m]; empty: zeros
    Tensor decay = {};  ///< log of the factor that decays the state before each step, or empty
    Tensor beta = {};   ///< delta rule: writes beta * (v - k S) in place of v; empty: writes v
};
struct LinearAttention {
    Tensor output = {}, state = {};
};
/// Attention without softmax, through a state S: S = exp(decay) S + k^T v, or with beta S =
/// exp(decay) S + beta k^T (v - k S); output = scale q S.  q: [batch, heads, length, n], k: [batch,
/// key_heads, length, n], v: [batch, key_heads, length, m], decay and beta broadcast to k ->
/// [batch, heads, length, m] and S.  The length is fixed; with decay or beta the steps are unrolled
/// in the graph.
LinearAttention linear_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const LinearAttentionOptions& options = {});

struct CausalConv {
    Tensor output = {}, state = {};
};
/// Causal depthwise convolution along the last axis.  x: [n, channels, length], weight: [channels,
/// 1, k], bias: [channels] or empty, past: [n, channels, k - 1] or empty (zeros) -> output of x's
/// shape, and the last k - 1 elements, to pass as `past` of the next call.
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
/// gru_cell over a sequence.  x: [n, length, in] with a fixed length; h: the state before the first
/// step, [n, hidden], or empty for zeros; episode_starts: bool [n, length] or empty, true where the
/// state is zeroed before that step.  -> [n, length, hidden], the state after each step.  One
/// kernel runs all steps, and one the backward pass, for states of up to 256 where the device has
/// the shared memory (7 * hidden floats or more); otherwise each step is a kernel of its own.
Tensor gru(const Tensor& x, const Tensor& h, const Tensor& input_weight,
           const Tensor& hidden_weight, const Tensor& input_bias = {},
           const Tensor& hidden_bias = {}, const Tensor& episode_starts = {});
struct LstmState {
    Tensor h = {}, c = {};
};
/// Weights and biases of the gates i, f, g and o stacked: [4 * hidden, ...], as in PyTorch.
LstmState lstm_cell(const Tensor& x, const LstmState& state, const Tensor& input_weight,
                    const Tensor& hidden_weight, const Tensor& input_bias = {},
                    const Tensor& hidden_bias = {});

// --- Reductions: over `axes` (empty: all); keep_dims leaves them with extent 1 ---

Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
/// Over the batch axis, divides by the batch size of the run.
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor max(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor min(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor prod(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
/// Logical or (any), logical and (all).  x: bool.
Tensor any(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor all(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
/// log(sum(exp(x))) without overflow.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
/// mean((x - mean(x))^2), dividing by n - correction in place of n.
Tensor var(const Tensor& x, const Axes& axes = {}, bool keep_dims = false, double correction = 0);
/// Index of the first largest (smallest) element along `axis`: i64.
Tensor argmax(const Tensor& x, int64_t axis = -1, bool keep_dims = false);
Tensor argmin(const Tensor& x, int64_t axis = -1, bool keep_dims = false);
/// The adjoint of broadcasting: sums x over the axes along which `shape` was stretched to x's
/// shape.
Tensor sum_to_shape(const Tensor& x, const Shape& shape);
/// Product of x's extents along `axes`, as a scalar of x's type (f32 if x holds no floats).
Tensor numel_along(const Tensor& x, const Axes& axes = {});

// --- Normalization: scale and bias may be empty ---

/// (x - mean) / sqrt(variance + epsilon), with both taken over `axes` (empty: all).  Mean and
/// variance of half-precision elements are computed in f32, here and below.
Tensor standardize(const Tensor& x, const Axes& axes, double epsilon = 1e-5);
/// Renamed to standardize(): PyTorch's normalize is lp_normalize().
Tensor normalize(const Tensor& x, const Axes& axes, double epsilon = 1e-5) = delete;
/// standardize() followed by scale and bias, which broadcast to x; usually over the last axes,
/// whose extents they have.
Tensor layer_norm(const Tensor& x, const Axes& axes, const Tensor& scale = {},
                  const Tensor& bias = {}, double epsilon = 1e-5);
/// x / sqrt(mean(x^2) + epsilon) * scale (Zhang and Sennrich, 2019).
Tensor rms_norm(const Tensor& x, const Axes& axes, const Tensor& scale = {}, double epsilon = 1e-5);
/// x: [n, channels, spatial...]; normalizes each channel of each item.  scale, bias: [channels].
Tensor instance_norm(const Tensor& x, const Tensor& scale = {}, const Tensor& bias = {},
                     double epsilon = 1e-5);
/// x: [n, channels, ...]; normalizes over groups of adjacent channels; `groups` divides their
/// number.
Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& scale = {},
                  const Tensor& bias = {}, double epsilon = 1e-5);
/// x: [n, channels, ...]; mean, variance, scale and bias: [channels].
Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance,
                  const Tensor& scale = {}, const Tensor& bias = {}, double epsilon = 1e-5);
/// batch_norm with the mean and variance of x itself, over all axes except that of the channels.
Tensor batch_norm_train(const Tensor& x, const Tensor& scale = {}, const Tensor& bias = {},
                        double epsilon = 1e-5);
/// The mean and (population) variance of each channel of x: [n, channels, ...] -> [channels], for a
/// layer's running statistics; f32 for half-precision x.
struct BatchStatistics {
    Tensor mean = {}, variance = {};
};
BatchStatistics batch_statistics(const Tensor& x);
/// x / max(norm of x over `axes`, epsilon); p = 1: sum of |x|, p = 2: Euclidean.
Tensor lp_normalize(const Tensor& x, const Axes& axes = {-1}, int64_t p = 2,
                    double epsilon = 1e-12);
/// x / (bias + alpha / size * s)^beta, s: sum of squares over a window of `size` channels (axis 1)
/// around the element.
Tensor local_response_norm(const Tensor& x, int64_t size, double alpha = 1e-4, double beta = 0.75,
                           double bias = 1);

// --- Shapes and data movement ---

/// Changes the shape, not the elements or their order; one extent may be -1 and is then computed.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Merges the axes [first, last] into one.
Tensor flatten(const Tensor& x, int64_t first = 0, int64_t last = -1);
/// Drops axes of extent 1; empty: all of them.
Tensor squeeze(const Tensor& x, const Axes& axes = {});
/// Adds axes of extent 1 at these positions of the result.
Tensor unsqueeze(const Tensor& x, const Axes& axes);
/// Axis i of the result is axis permutation[i] of x; empty: all axes reversed.
Tensor transpose(const Tensor& x, const Axes& permutation = {});
/// Swaps two axes.
Tensor swapaxes(const Tensor& x, int64_t a, int64_t b);
/// Stretches extents of 1, and adds leading axes.
Tensor expand(const Tensor& x, const Shape& shape);
Tensor flip(const Tensor& x, const Axes& axes);
/// x repeated repeats[i] times along axis i; one number for each axis.
Tensor tile(const Tensor& x, const std::vector<int64_t>& repeats);
/// x shifted by `shift` elements along `axis`, wrapping around.
Tensor roll(const Tensor& x, int64_t shift, int64_t axis);
Tensor concat(std::span<const Tensor> parts, int64_t axis);
Tensor concat(std::initializer_list<Tensor> parts, int64_t axis);
/// Joins along a new axis.
Tensor stack(std::span<const Tensor> parts, int64_t axis = 0);
/// Elements begin, begin + step, ... before `end` along one axis; both count from the back if
/// negative and are clamped, as in Python.  The symbolic axis cannot be cut; 0 to INT32_MAX is all
/// of it.
Tensor slice(const Tensor& x, int64_t axis, int64_t begin, int64_t end, int64_t step = 1);
/// Pieces of the given extents along `axis`.
std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& extents, int64_t axis);
/// Adds pad_begin[i] elements before and pad_end[i] after axis i; negative numbers crop.
Tensor pad(const Tensor& x, const std::vector<int64_t>& pad_begin,
           const std::vector<int64_t>& pad_end, double value = 0);
/// Selects slices along `axis` (torch.index_select, numpy.take).  x: [A..., N, B...], indices:
/// integers [I...] -> [A..., I..., B...].  Negative indices count from the back; those out of range
/// are clamped.
Tensor take(const Tensor& x, const Tensor& indices, int64_t axis = 0);
/// Renamed to take(): PyTorch's gather is gather_elements().
Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis = 0) = delete;
/// out[.., i, ..] = x[.., indices[.., i, ..], ..] (torch.gather); the extents of `indices` are at
/// most those of x, except along `axis`.
Tensor gather_elements(const Tensor& x, const Tensor& indices, int64_t axis);
/// x: [B..., N..., R...], indices: integers [B..., I..., K] -> [B..., I..., R...]: each tuple of K
/// integers holds coordinates on the K axes N, after `batch_dims` common axes B.
Tensor gather_nd(const Tensor& x, const Tensor& indices, int64_t batch_dims = 0);
/// data with data[.., indices[.., i, ..], ..] = updates[.., i, ..] for all i.  indices and updates
/// have one shape, whose extents are at most data's except along `axis`.  reduction: "none" (the
/// last of several updates of an element wins), "add", "mul", "max" or "min" (combined with data's
/// element).  Negative indices count from the back; updates out of range are dropped.
/// Deterministic.
Tensor scatter_elements(const Tensor& data, const Tensor& indices, const Tensor& updates,
                        int64_t axis, std::string_view reduction = "none");
/// data: [N..., R...], indices: [I..., K], updates: [I..., R...]; otherwise as scatter_elements.
Tensor scatter_nd(const Tensor& data, const Tensor& indices, const Tensor& updates,
                  std::string_view reduction = "none");
/// cache: [B, ..., S, ...] (S at `axis`), update: the same with L <= S, begins: integers [B].
/// Element b of the result is cache[b] with update[b] written from begins[b] on.  circular:
/// elements past the end wrap around; otherwise they are dropped.
Tensor tensor_scatter(const Tensor& cache, const Tensor& update, const Tensor& begins, int64_t axis,
                      bool circular = false);
/// After the recording runs, the indexed rows of `target`, a param or state [N..., R...], hold
/// `rows` [M, R...].  Equivalent to Trace::assign() of a scatter, but writes only those rows: the
/// cost does not depend on the size of `target`.  indices: integers [M], or [M, K] for K leading
/// axes of `target`; negative ones count from the back, and rows whose index is out of range are
/// dropped.  If an index occurs several times, the last of its rows wins.  Reads of `target` in
/// this trace see the old contents; a barrier separates those that would run at the same time.
/// are_distinct: the caller guarantees that no index occurs twice.  The indices are then not
/// compared, which saves about M^2 / 64 reads for M rows; if one does occur twice, which row wins
/// is undefined.
/// Errors, kept by the trace: shapes that do not fit, a target that is not a param or state, or
/// that is assigned already.
void index_copy_(const Tensor& target, const Tensor& indices, const Tensor& rows,
                 bool are_distinct = false);
/// index_copy_ for a ring buffer [N, R...]: row i of `rows` [M, R...] goes to (begin + i) mod N.
/// begin: integer [], not negative.  If M exceeds N, the last N rows are kept.  Returns the
/// position for the next rows, (begin + M) mod N, of begin's type.
Tensor ring_buffer_push(const Tensor& target, const Tensor& begin, const Tensor& rows);

/// A scalar and its name.
struct NamedScalar {
    std::string_view name = {};
    Tensor value = {};  ///< [], or one element
};
/// Joins named scalars into one output, `name` [count], so that one buffer and one readback carry
/// all metrics of an entry.  The program holds their names: hearth_program_find_scalar,
/// LoadedProgram::find_scalar.  Element type: the common type of the scalars, otherwise f32.
/// Errors, kept by the trace: no scalars, equal or empty names, a tensor of more than one element.
void output_scalars(std::string_view name, std::span<const NamedScalar> scalars);
void output_scalars(std::string_view name, std::initializer_list<NamedScalar> scalars);

/// The index of each element, in row-major order.
Tensor arange(Trace& trace, const Shape& shape, DType dtype = DType::kI32);
/// indices: integers [I...] -> [I..., depth] (the new axis at `axis`): 1 at the index, 0 elsewhere.
Tensor one_hot(const Tensor& indices, int64_t depth, int64_t axis = -1, DType dtype = DType::kF32);

// --- Convolution: x: [N, C, spatial...] with one to three spatial axes, "NCHW" ---

/// Options per spatial axis.  An empty list: ones (zeros for padding); a list of one number: that
/// number for every axis.
struct ConvOptions {
    std::vector<int64_t> strides = {};
    std::vector<int64_t> dilations = {};
    std::vector<int64_t> pad_begin = {};  ///< padding before the elements
    std::vector<int64_t> pad_end = {};    ///< padding after them; empty: as `pad_begin`
    int64_t groups = 1;
};

/// weight: [O, C / groups, kernel...], bias: [O] or none -> [N, O, P...], P = (size + pad_begin +
/// pad_end - (kernel - 1) * dilation - 1) / stride + 1.  Depthwise: groups = C.
Tensor conv(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
            const ConvOptions& options = {});
/// The transposed convolution.  weight: [C, O / groups, kernel...], bias: [O] or none -> [N, O,
/// S...], S = (size - 1) * stride + (kernel - 1) * dilation + 1 - pad_begin - pad_end +
/// output_padding.
Tensor conv_transpose(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                      const ConvOptions& options = {},
                      const std::vector<int64_t>& output_padding = {});
/// The patches that a kernel of these extents reads (im2col): [N, C * taps, windows], zeros
/// outside.  `options.groups` is ignored here and in fold.
Tensor unfold(const Tensor& x, const std::vector<int64_t>& kernel, const ConvOptions& options = {});
/// The adjoint of unfold (col2im): accumulates patches [N, C * taps, windows] at the elements that
/// they were read from -> [N, C, extents...].
Tensor fold(const Tensor& patches, const std::vector<int64_t>& extents,
            const std::vector<int64_t>& kernel, const ConvOptions& options = {});

// --- Pooling: x: [N, C, spatial...] with one to three spatial axes ---

/// As ConvOptions, but the strides are the kernel's extents where none are given.
struct PoolOptions {
    std::vector<int64_t> strides = {};
    std::vector<int64_t> dilations = {};
    std::vector<int64_t> pad_begin = {};  ///< padding before the elements
    std::vector<int64_t> pad_end = {};    ///< padding after them; empty: as `pad_begin`
    bool ceil_mode = false;               ///< a last window may reach beyond the padding
    bool count_include_pad = true;        ///< avg_pool: divide by the padding's elements too
};

/// kernel: extents, or one number for all axes.  -> [N, C, windows...]
Tensor max_pool(const Tensor& x, const std::vector<int64_t>& kernel,
                const PoolOptions& options = {});
/// The indices of max_pool's results in the plane of their channel: i64.
Tensor max_pool_indices(const Tensor& x, const std::vector<int64_t>& kernel,
                        const PoolOptions& options = {});
Tensor avg_pool(const Tensor& x, const std::vector<int64_t>& kernel,
                const PoolOptions& options = {});
/// (sum of |x|^p)^(1/p) over each window.
Tensor lp_pool(const Tensor& x, double p, const std::vector<int64_t>& kernel,
               const PoolOptions& options = {});
/// Pools over exactly `extents` windows: window i of an axis of n holds the elements floor(i n /
/// extent) up to ceil((i + 1) n / extent).
Tensor adaptive_avg_pool(const Tensor& x, const std::vector<int64_t>& extents);
Tensor adaptive_max_pool(const Tensor& x, const std::vector<int64_t>& extents);
/// The partial inverse of max_pool: x at `indices`, zeros elsewhere -> [N, C, extents...].
Tensor max_unpool(const Tensor& x, const Tensor& indices, const std::vector<int64_t>& extents);
// --- Prefix sums, sorting ---

/// Prefix sums along `axis`; exclusive: without the element itself; reverse: from the end.  One
/// pass, whatever the extent.
Tensor cumsum(const Tensor& x, int64_t axis, bool exclusive = false, bool reverse = false);
Tensor cumprod(const Tensor& x, int64_t axis, bool exclusive = false, bool reverse = false);
/// First-order linear recurrence y[t] = x[t] + factor[t] * y[t - 1] along `axis`, from y[-1] = 0;
/// reverse: from the end, with y[t + 1].  x, factor: floating-point [...], one shape -> [...].
Tensor linear_recurrence(const Tensor& x, const Tensor& factor, int64_t axis, bool reverse = false);
/// Discounted cumulative sums along `axis`, restarted at episode ends: y[t] = x[t] + discount * (1
/// - dones[t]) * y[t + 1], from the end (reverse, the default), or with y[t - 1], from the
/// beginning.  dones: bool, or floats from 0 to 1, broadcasting to x; discount: a number, or a
/// tensor that broadcasts to x.  Computes returns, generalized advantage estimates (of x = r +
/// gamma v' (1 - done) - v, with gamma * lambda) and V-trace.  One dispatch.
Tensor discounted_cumsum(const Tensor& x, double discount, const Tensor& dones, int64_t axis,
                         bool reverse = true);
Tensor discounted_cumsum(const Tensor& x, const Tensor& discount, const Tensor& dones, int64_t axis,
                         bool reverse = true);
/// The indices along `axis` that sort x: i64.  Stable; NaN sorts as the largest.
Tensor argsort(const Tensor& x, int64_t axis = -1, bool descending = false);
Tensor sort(const Tensor& x, int64_t axis = -1, bool descending = false);

struct TopK {
    Tensor values = {};
    Tensor indices = {};  ///< indices along the axis, i64
};
/// The k largest (or smallest) elements along `axis`, sorted from the most extreme; ties keep input
/// order.
TopK topk(const Tensor& x, int64_t k, int64_t axis = -1, bool largest = true);
/// For each value, the number of elements of sorted: [N] that are less than it or, if `right`, not
/// greater: i64.
Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right = false);

// --- Results of data-dependent size: each has a capacity and a count ---

struct NonZero {
    Tensor indices =
        {};  ///< [rank, capacity] i64: coordinates, in row-major order; -1 after the last
    Tensor count = {};  ///< i64 []: number found, which may exceed the capacity
};
/// The coordinates of the elements that are not zero (or true).  Only x's first axis may be
/// symbolic.
NonZero nonzero(const Tensor& x, int64_t capacity);

struct Unique {
    Tensor values = {};  ///< [capacity], or slices of x along `axis`; unspecified after the last
    Tensor first_index = {};  ///< [capacity] i64: index of each first occurrence; -1 after the last
    Tensor inverse = {};      ///< i64: for each element (or slice) of x, the index of its value
    Tensor counts = {};       ///< [capacity] i64: number of occurrences; 0 after the last
    Tensor count = {};        ///< i64 []: number found
};
/// The distinct elements of x, or slices along `axis`; sorted, or in the order of first occurrence.
/// NaNs count as equal.
Unique unique(const Tensor& x, int64_t capacity, std::optional<int64_t> axis = {},
              bool sorted = true);

struct NmsOptions {
    double overlap_threshold = 0;  ///< maximum intersection over union with a better box
    std::optional<double> score_threshold = {};  ///< boxes with at most this score are dropped
    bool centered = false;  ///< boxes are (x, y, width, height), not two opposite corners
};
/// Non-maximum suppression.  boxes: [B, N, 4], scores: [B, C, N] -> i64 [B, C, count]: for each
/// class the indices of the best boxes that do not overlap a better one too much, best first; -1
/// after the last.  N is at most 65,536.
Tensor nms(const Tensor& boxes, const Tensor& scores, int64_t count,
           const NmsOptions& options = {});

/// x with the first lengths[b] elements along `time_axis` reversed, for each b of `batch_axis`.
Tensor reverse_sequence(const Tensor& x, const Tensor& lengths, int64_t time_axis = 0,
                        int64_t batch_axis = 1);

// --- Quantization: (q - zero_point) * scale ---

/// round(x / scale) + zero_point, half to even, saturated to the range of `dtype`.  scale and
/// zero_point (or none): scalars; [x's extent along axis]; or, with groups, x's shape with that
/// extent divided by `group_size`, rounded up.
Tensor quantize_linear(const Tensor& x, const Tensor& scale, const Tensor& zero_point, DType dtype,
                       int64_t axis = 1, int64_t group_size = 0);
/// (x - zero_point) * scale, with scale's element type.
Tensor dequantize_linear(const Tensor& x, const Tensor& scale, const Tensor& zero_point = {},
                         int64_t axis = 1, int64_t group_size = 0);
struct DynamicQuantized {
    Tensor values = {};      ///< u8, with x's shape
    Tensor scale = {};       ///< []
    Tensor zero_point = {};  ///< u8 []
};
/// Quantizes x to u8 over the range of x and zero.
DynamicQuantized dynamic_quantize_linear(const Tensor& x);
/// a: integers [..., M, K], b: [..., K, N] -> i32 [..., M, N]: exact.  Zero points (or none):
/// scalars, or one per row of a and column of b.
Tensor matmul_integer(const Tensor& a, const Tensor& b, const Tensor& a_zero_point = {},
                      const Tensor& b_zero_point = {});

// --- Signal processing ---

struct DftOptions {
    int64_t length = 0;  ///< x is truncated or zero-padded to it; 0: x's extent
    bool inverse = false;
    /// Forward: returns only the frequencies up to length / 2; inverse: x has only those, and the
    /// result is real.
    bool onesided = false;
};
/// The discrete Fourier transform along `axis`.  x: [..., 1 or 2]: real, or real and imaginary
/// parts in the last axis -> [..., 2] (a onesided inverse: [..., 1]).  O(length^2); length at most
/// 46,340.
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
/// [dft_length / 2 + 1, mel_bins]: a spectrum times this matrix gives mel bins.
Tensor mel_weight_matrix(Trace& trace, const MelOptions& options, DType dtype = DType::kF32);

// --- Linear algebra ---

/// The determinants of square matrices: [..., N, N] -> [...], N at most 64.
Tensor det(const Tensor& x);

// --- Images: x: [N, C, spatial...] ---

enum class Interpolation : uint8_t { kNearest, kLinear, kCubic };

struct InterpolateOptions {
    Interpolation mode = Interpolation::kLinear;
    bool align_corners = false;  ///< the first and last elements keep their positions
    bool antialias = false;      ///< widens the filter when downsampling
};

/// Resizes x to these spatial extents, as PyTorch's interpolate: linear and cubic along each axis,
/// with half-pixel centers unless corners are aligned; nearest rounds down.
Tensor interpolate(const Tensor& x, const std::vector<int64_t>& extents,
                   const InterpolateOptions& options = {});

enum class PadMode : uint8_t {
    kConstant,
    kReflect,    ///< mirrored at the border elements, which are not repeated
    kReplicate,  ///< the nearest element
    kCircular,   ///< wraps around
};
/// Adds pad_begin[i] elements before and pad_end[i] after axis i, filled by `mode`; negative
/// numbers crop.  kConstant adds zeros.
Tensor pad(const Tensor& x, const std::vector<int64_t>& pad_begin,
           const std::vector<int64_t>& pad_end, PadMode mode);

enum class SamplePadding : uint8_t { kZeros, kBorder, kReflection };
struct GridSampleOptions {
    Interpolation mode = Interpolation::kLinear;
    SamplePadding padding = SamplePadding::kZeros;
    bool align_corners = false;  ///< -1 and 1 are centers of border elements, not outer edges
};
/// x: [N, C, spatial...], grid: [N, samples..., axes] with coordinates in [-1, 1], the innermost
/// axis first -> [N, C, samples...].  As PyTorch's grid_sample, for 1 to 3 spatial axes.
Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options = {});
/// theta: [N, 2, 3] or [N, 3, 4] -> the sampling grid [N, extents..., axes] of an affine map.
Tensor affine_grid(const Tensor& theta, const std::vector<int64_t>& extents,
                   bool align_corners = false);

/// [N, C r^2, H, W] -> [N, C, H r, W r]: r^2 channels of a pixel become an r x r block.
Tensor pixel_shuffle(const Tensor& x, int64_t factor);
/// The inverse of pixel_shuffle: [N, C, H r, W r] -> [N, C r^2, H, W].
Tensor pixel_unshuffle(const Tensor& x, int64_t factor);

/// Deformable convolution (Zhu et al., "Deformable ConvNets v2", 2019): `conv` whose taps are
/// displaced by offset: [N, offset_groups * taps * 2, P...], and scaled by mask: [N, offset_groups
/// * taps, P...] or none.  x: [N, C, H, W].
Tensor deform_conv(const Tensor& x, const Tensor& weight, const Tensor& offset, const Tensor& mask,
                   const Tensor& bias, const ConvOptions& options = {}, int64_t offset_groups = 1);

// --- Random numbers ---

/// Counter-based: element i of draw `counter` of the stream `key` is the same on every device.
/// counter: u32 [].  Draws with equal key and counter are equal.
Tensor random_uniform(const Tensor& counter, uint64_t key, const Shape& shape, double low = 0,
                      double high = 1, DType dtype = DType::kF32);
Tensor random_normal(const Tensor& counter, uint64_t key, const Shape& shape, double mean = 0,
                     double std = 1, DType dtype = DType::kF32);
/// The number of previous runs of the entries that use it: u32 [], a counter for random numbers and
/// schedules.  A state called `name`, incremented once per recording, however often this is called.
Tensor global_step(Trace& trace, std::string_view name = "steps");
/// probability: [...] -> bool [...]: true with that probability.
Tensor bernoulli(const Tensor& counter, uint64_t key, const Tensor& probability);
/// scores: [..., C] -> i64 [...]: class c with probability softmax(scores)[c].
Tensor categorical(const Tensor& counter, uint64_t key, const Tensor& scores);
/// A random permutation of the integers below `count`: i64 [count].
Tensor random_permutation(const Tensor& counter, uint64_t key, int64_t count);
/// The key of the stream `name` under a seed.
uint64_t rng_key(std::string_view name, uint64_t seed = 0);

}  // namespace hearth
