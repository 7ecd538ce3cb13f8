// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Layers: graph code that declares its own params, "name.weight" and so on.  Calling a layer again
// under the same name uses the same params; random initial values depend on name and seed alone.
//
// A module is anything callable like a layer, with (trace, name, x):
//
//     Tensor block(Trace& trace, std::string_view name, const Tensor& x) {
//         const Tensor y = relu(nn::linear(trace, nn::join_name(name, "in"), x, 64));
//         return x + nn::linear(trace, nn::join_name(name, "out"), y, x.dim(-1).count);
//     }
//     const nn::Sequential net{block, block, nn::layer(nn::linear, 4, nn::LinearOptions{})};
//     const Tensor y = net(trace, "net", x);   // params "net.0.in.weight", ..., "net.2.bias"

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/ops.hpp>
#include <hearth/tensor.hpp>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hearth::nn {

// --- Initialization.  Weights are [out, in, ...]; further axes are a kernel's ---

enum class Fan { kIn, kOut };
/// Fan of a weight: in (or out) times the number of kernel elements.
int64_t fan_of(const Shape& weight, Fan fan);

/// Uniform within gain * sqrt(3 / fan), or normal with the standard deviation gain / sqrt(fan) (He
/// et al., 2015; sqrt(2) is relu's gain).
Init kaiming_uniform(const Shape& weight, Fan fan = Fan::kIn, double gain = 1.4142135623730951,
                     uint64_t seed = 0);
Init kaiming_normal(const Shape& weight, Fan fan = Fan::kIn, double gain = 1.4142135623730951,
                    uint64_t seed = 0);
/// As above, with the mean of both fans (Glorot and Bengio, 2010).
Init xavier_uniform(const Shape& weight, double gain = 1, uint64_t seed = 0);
Init xavier_normal(const Shape& weight, double gain = 1, uint64_t seed = 0);

/// Named initialization rules for weights.
enum class WeightInit {
    kPyTorchDefault,   ///< uniform within 1 / sqrt(fan in), biases too (PyTorch's default)
    kKaiming,          ///< kaiming_uniform, biases zero
    kXavier,           ///< xavier_uniform, biases zero
    kZeros,            ///< weights and biases zero
    kKaimingNormal,    ///< kaiming_normal, biases zero
    kXavierNormal,     ///< xavier_normal, biases zero
    kOrthogonal,       ///< Init::orthogonal, biases zero
    kTruncatedNormal,  ///< Init::truncated_normal with std 0.02, biases zero
};

/// The initializer of a weight.  gain: multiplies it (kOrthogonal: the square root of 2 before
/// relu, 0.01 for a policy's head).
Init weight_init(WeightInit rule, const Shape& weight, uint64_t seed = 0, double gain = 1);
/// As above, for weights of [out, in].
Init weight_init(WeightInit rule, int64_t in_features, int64_t out_features, uint64_t seed = 0);
/// The initializer of the bias that belongs to that weight.
Init bias_init(WeightInit rule, const Shape& weight, uint64_t seed = 0);

// --- Linear layers ---

/// A low-rank addition to a frozen weight (Hu et al., "LoRA", 2021): alpha / rank * B A, with the
/// params name.lora_a [rank, in] and name.lora_b [out, rank], which is initially zero.
struct Lora {
    int64_t rank = 4;
    double alpha = 4;
};

struct LinearOptions {
    bool bias = true;
    WeightInit init = WeightInit::kPyTorchDefault;
    uint64_t seed = 0;
    std::optional<Lora> lora = {};
    double gain = 1;                         ///< multiplies the weight's initial values
    std::optional<double> output_gain = {};  ///< `gain` of the last layer of mlp()
};

/// x: [..., in] -> [..., out_features].  Params: name.weight [out_features, in] and name.bias
/// [out_features], of x's element type.
Tensor linear(Trace& trace, std::string_view name, const Tensor& x, int64_t out_features,
              const LinearOptions& options = {});

/// Linear layers name.0, name.1, ... of these sizes, with `activation` between them but not after
/// the last.  x: [..., in] -> [..., widths.back()].
Tensor mlp(Trace& trace, std::string_view name, const Tensor& x, std::span<const int64_t> widths,
           Tensor (*activation)(const Tensor&), const LinearOptions& options = {});
Tensor mlp(Trace& trace, std::string_view name, const Tensor& x,
           std::initializer_list<int64_t> widths, Tensor (*activation)(const Tensor&),
           const LinearOptions& options = {});

/// Gated linear unit: x is split in two along `axis`; the first half times gate(second half).
Tensor glu(const Tensor& x, int64_t axis = -1, Tensor (*gate)(const Tensor&) = sigmoid);
/// name.down(gate(name.gate(x)) * name.up(x)): with silu, SwiGLU (Shazeer, 2020).
/// x: [..., in] -> [..., out_features].
Tensor gated_mlp(Trace& trace, std::string_view name, const Tensor& x, int64_t hidden,
                 int64_t out_features, Tensor (*gate)(const Tensor&) = silu,
                 const LinearOptions& options = {.bias = false});

/// Looks up rows of name.weight [count, width], initially normal.  indices: integers [...] -> [...,
/// width].
Tensor embedding(Trace& trace, std::string_view name, const Tensor& indices, int64_t count,
                 int64_t width, uint64_t seed = 0);

struct DropoutOptions {
    bool training = true;  ///< false: returns x
    uint64_t seed = 0;
    std::string_view counter = "steps";  ///< name of the global_step that numbers the draws
};

/// Zero with probability `rate` in [0, 1], otherwise x / (1 - rate) (Srivastava et al., 2014).
/// Draws depend on name, seed and the step count.
Tensor dropout(Trace& trace, std::string_view name, const Tensor& x, double rate,
               const DropoutOptions& options = {});

// --- Convolutions: x: [N, C, spatial...] ---

struct ConvLayerOptions {
    ConvOptions window = {};                   ///< strides, padding, dilations, groups
    std::vector<int64_t> output_padding = {};  ///< transposed convolutions only; empty: none
    bool bias = true;
    WeightInit init = WeightInit::kPyTorchDefault;
    uint64_t seed = 0;
};

/// kernel: extents, or one number for all axes.  Params: name.weight [out_channels, C / groups,
/// kernel...] and name.bias [out_channels].  It is an error if x does not have the number of
/// spatial axes in the function's name.
Tensor conv1d(Trace& trace, std::string_view name, const Tensor& x, int64_t out_channels,
              const std::vector<int64_t>& kernel, const ConvLayerOptions& options = {});
Tensor conv2d(Trace& trace, std::string_view name, const Tensor& x, int64_t out_channels,
              const std::vector<int64_t>& kernel, const ConvLayerOptions& options = {});
Tensor conv3d(Trace& trace, std::string_view name, const Tensor& x, int64_t out_channels,
              const std::vector<int64_t>& kernel, const ConvLayerOptions& options = {});
/// Transposed convolutions.  name.weight is [C, out_channels / groups, kernel...].
Tensor conv_transpose1d(Trace& trace, std::string_view name, const Tensor& x, int64_t out_channels,
                        const std::vector<int64_t>& kernel, const ConvLayerOptions& options = {});
Tensor conv_transpose2d(Trace& trace, std::string_view name, const Tensor& x, int64_t out_channels,
                        const std::vector<int64_t>& kernel, const ConvLayerOptions& options = {});
Tensor conv_transpose3d(Trace& trace, std::string_view name, const Tensor& x, int64_t out_channels,
                        const std::vector<int64_t>& kernel, const ConvLayerOptions& options = {});

// --- Modules ---

/// "path.part"; `part` alone if the path is empty.
std::string join_name(std::string_view path, std::string_view part);
std::string join_name(std::string_view path, size_t index);

/// Any function from tensor to tensor: an activation, f(x), or a module, f(trace, name, x).
class Layer {
  public:
    template <class F>
    requires(std::is_invocable_r_v<Tensor, const F&, const Tensor&>) Layer(F f)
        : call_([f = std::move(f)](Trace&, std::string_view, const Tensor& x) { return f(x); }) {}
    template <class F>
    requires(std::is_invocable_r_v<Tensor, const F&, Trace&, std::string_view, const Tensor&>)
        Layer(F f)
        : call_(std::move(f)) {}

    Tensor operator()(Trace& trace, std::string_view name, const Tensor& x) const {
        return call_(trace, name, x);
    }

  private:
    std::function<Tensor(Trace&, std::string_view, const Tensor&)> call_;
};

/// layer(nn::linear, 64, nn::LinearOptions{}): nn::linear(trace, name, x, 64, {}) as a module.  All
/// arguments after x must be given.
template <class F, class... Arguments>
Layer layer(F f, Arguments... arguments) {
    return [f, arguments...](Trace& trace, std::string_view name, const Tensor& x) -> Tensor {
        return f(trace, name, x, arguments...);
    };
}

/// Modules applied in order, named by position: "name.0", "name.1", ...; activations count.
class Sequential {
  public:
    Sequential(std::initializer_list<Layer> layers) : layers_(layers) {}
    explicit Sequential(std::vector<Layer> layers) : layers_(std::move(layers)) {}

    Tensor operator()(Trace& trace, std::string_view name, const Tensor& x) const;

  private:
    std::vector<Layer> layers_;
};

/// hearth::max_pool and so on with these options, as modules; flatten_channels merges all axes but
/// the first.
Layer max_pool(std::vector<int64_t> kernel, PoolOptions options = {});
Layer avg_pool(std::vector<int64_t> kernel, PoolOptions options = {});
Layer lp_pool(double p, std::vector<int64_t> kernel, PoolOptions options = {});
Layer adaptive_avg_pool(std::vector<int64_t> extents);
Layer adaptive_max_pool(std::vector<int64_t> extents);
Tensor flatten_channels(const Tensor& x);

// --- Params by name: for listing, freezing and parameter groups ---

struct NamedParameter {
    std::string name = {};
    Tensor tensor = {};
};

/// All params so far, in the order of declaration.
std::vector<NamedParameter> named_parameters(const Trace& trace);
/// The params whose names satisfy `wanted`.
std::vector<Tensor> filter_parameters(const Trace& trace,
                                      const std::function<bool(std::string_view name)>& wanted);
/// The params at or below one of the paths: "net.0" matches net.0, net.0.weight, ..., not net.01.
std::vector<Tensor> parameters_with_prefix(const Trace& trace,
                                           std::initializer_list<std::string_view> paths);
/// The params not below any of the paths: with frozen modules as paths, those to train.
std::vector<Tensor> parameters_except(const Trace& trace,
                                      std::initializer_list<std::string_view> paths);
/// The params of LoRA adapters: NAME.lora_a and NAME.lora_b.
std::vector<Tensor> lora_params(const Trace& trace);

/// Merges each LoRA adapter in `weights` into its weight and removes it.  `alpha` as in Lora.
/// Errors: kInvalidArgument naming an adapter without its other half or its weight, or of other
/// shapes.
Status merge_lora(NamedTensors& weights, double alpha);

// --- Normalization: params name.weight, initially ones, and name.bias, zeros ---

struct NormOptions {
    double epsilon = 1e-5;
    bool scale = true;
    bool bias = true;
};

/// Normalizes over the last axis.  x: [..., n]; params [n].
Tensor layer_norm(Trace& trace, std::string_view name, const Tensor& x,
                  const NormOptions& options = {});
/// As layer_norm, without mean and bias.
Tensor rms_norm(Trace& trace, std::string_view name, const Tensor& x,
                const NormOptions& options = {});
/// x: [n, channels, ...]; params [channels].
Tensor group_norm(Trace& trace, std::string_view name, const Tensor& x, int64_t groups,
                  const NormOptions& options = {});
Tensor instance_norm(Trace& trace, std::string_view name, const Tensor& x,
                     const NormOptions& options = {});

struct BatchNormOptions {
    double epsilon = 1e-5;
    bool scale = true;
    bool bias = true;
    double momentum = 0.1;  ///< weight of a run's batch in the running statistics
    /// True: normalize by the batch statistics, and move the states name.running_mean and
    /// name.running_var [channels] towards them.  False: normalize by those states.  In one trace,
    /// a layer can train only once.
    bool training = true;
};

/// x: [n, channels, ...]; params [channels].
Tensor batch_norm(Trace& trace, std::string_view name, const Tensor& x,
                  const BatchNormOptions& options = {});

// --- Recurrent layers: params as in PyTorch, uniform within 1 / sqrt(hidden) ---

struct RecurrentOptions {
    int layers = 1;
    bool bidirectional = false;
    bool bias = true;
    uint64_t seed = 0;
    Tensor h = {}, c = {};  ///< initial states, [layers * directions, n, hidden]; empty: zeros
    Tensor lengths = {};    ///< sequence lengths, integers [n]; empty: all of x
    /// bool [n, length], or [n] for one step; empty: none.  True where the states are zeroed before
    /// that element, because a new episode begins with it.
    Tensor episode_starts = {};
};

struct RecurrentResult {
    Tensor output = {};     ///< of the last layer: [n, length, directions * hidden]
    Tensor h = {}, c = {};  ///< final states, [layers * directions, n, hidden]; c only for lstm
};

/// x: [n, length, in]; the length is fixed, and the steps are unrolled.  Params name.weight_ih_l0
/// [gates * hidden, in], name.weight_hh_l0, name.bias_ih_l0, name.bias_hh_l0; l1, ... for further
/// layers, l0_reverse for the backward direction.
RecurrentResult rnn(Trace& trace, std::string_view name, const Tensor& x, int64_t hidden,
                    const RecurrentOptions& options = {});
RecurrentResult gru(Trace& trace, std::string_view name, const Tensor& x, int64_t hidden,
                    const RecurrentOptions& options = {});
RecurrentResult lstm(Trace& trace, std::string_view name, const Tensor& x, int64_t hidden,
                     const RecurrentOptions& options = {});
/// One step, with the params of a single layer: name.weight_ih_l0, ...  A layer of the same name
/// shares them: act with the cell, learn with the layer.  x: [n, in], h: [n, hidden] or empty.
Tensor gru_cell(Trace& trace, std::string_view name, const Tensor& x, const Tensor& h,
                int64_t hidden, const RecurrentOptions& options = {});
LstmState lstm_cell(Trace& trace, std::string_view name, const Tensor& x, const LstmState& state,
                    int64_t hidden, const RecurrentOptions& options = {});

// --- Attention ---

struct AttentionLayerOptions {
    int64_t num_heads = 1;
    int64_t num_kv_heads = 0;  ///< heads of keys and values; 0: num_heads
    bool causal = false;
    int64_t attention_window = -1;  ///< number of elements before its own that one sees; -1: all
    bool rotary = false;            ///< rotary position embedding of queries and keys
    double rope_theta = 10000;
    bool bias = true;
    uint64_t seed = 0;
};

/// x: [n, length, width], memory: [n, memory_length, width] for cross-attention, or empty for
/// self-attention -> x's shape.  mask: as in hearth::attention.  Params name.in_proj_weight [width
/// + 2 * key_width, width], name.in_proj_bias, name.out_proj.weight and .bias.
Tensor multi_head_attention(Trace& trace, std::string_view name, const Tensor& x,
                            const Tensor& memory, const AttentionLayerOptions& options,
                            const Tensor& mask = {});

struct TransformerOptions {
    int64_t num_heads = 1;
    int64_t num_kv_heads = 0;
    int64_t dim_feedforward = 0;  ///< size between the two linear layers
    bool causal = false;
    bool rotary = false;
    bool norm_first = false;  ///< normalize the input of each sublayer, not its output
    Tensor (*activation)(const Tensor&) = relu;
    double dropout = 0;
    bool training = true;
};

/// Attention, then two linear layers, each added to its input.  x: [n, length, width].  Params
/// name.self_attn, name.linear1, name.linear2, name.norm1, name.norm2.
Tensor transformer_encoder_layer(Trace& trace, std::string_view name, const Tensor& x,
                                 const TransformerOptions& options, const Tensor& mask = {});
/// As above with attention to `memory` in between: name.multihead_attn and name.norm3.
Tensor transformer_decoder_layer(Trace& trace, std::string_view name, const Tensor& x,
                                 const Tensor& memory, const TransformerOptions& options,
                                 const Tensor& mask = {}, const Tensor& memory_mask = {});
/// Encoder layers name.layers.0, ...
Tensor transformer_encoder(Trace& trace, std::string_view name, const Tensor& x, int layers,
                           const TransformerOptions& options, const Tensor& mask = {});

/// sin(p / 10000^(2 i / width)) and the cosine alternating, to be added: [length, width] (Vaswani
/// et al., 2017, section 3.5).
Tensor sinusoidal_positions(Trace& trace, int64_t length, int64_t width);
/// Learned position embeddings: the param name.weight [length, width].
Tensor learned_positions(Trace& trace, std::string_view name, int64_t length, int64_t width,
                         uint64_t seed = 0);
struct RotaryTables {
    Tensor cosines = {}, sines = {};
};
/// Cosines and sines of the angles p / base^(2 i / width): [length, width / 2], for
/// rotary_embedding.
RotaryTables rotary_tables(Trace& trace, int64_t length, int64_t width, double base = 10000);

// --- Encodings of coordinates ---

/// sin(2^l pi x), cos(2^l pi x) for l = 0 ... octaves - 1 (Mildenhall et al., "NeRF", 2020, section
/// 5.1).  x: [..., n] -> [..., n * octaves * 2].
Tensor frequency_encoding(const Tensor& x, int octaves);
/// A Gaussian with the standard deviation 1 / bins around x, sampled at the centers of `bins` cells
/// of [0, 1] (Mueller et al., "Neural Importance Sampling", 2019, section 4.3).  x: [..., n] ->
/// [..., n * bins].
Tensor one_blob_encoding(const Tensor& x, int bins);
/// The real spherical harmonics of bands 0 to degree - 1, degree in [1, 4] (Sloan, "Efficient
/// Spherical Harmonic Evaluation", 2013).  direction: [..., 3], of length one -> [..., degree^2].
Tensor spherical_harmonics(const Tensor& direction, int degree = 4);

struct HashGridOptions {
    int levels = 16;
    int features = 2;             ///< per level
    int log2_entries = 14;        ///< maximum entries of a level's table, as a power of two
    double base_resolution = 16;  ///< cells along each axis of the coarsest level
    double growth = 1.5;          ///< ratio between levels
    double init_range = 1e-4;     ///< the table is initially uniform within this
    uint64_t seed = 0;
};

/// Interpolated features of a multi-resolution hash grid (Mueller et al., "Instant Neural Graphics
/// Primitives", 2022, section 3): level l has floor(base_resolution * growth^l) cells along each
/// axis.  Their corners index a table, directly if there are enough entries, otherwise through a
/// spatial hash.  x: [..., n], n in [1, 3], in [0, 1] -> [..., levels * features].  Param:
/// name.table [entries of all levels, features].
Tensor hash_grid(Trace& trace, std::string_view name, const Tensor& x,
                 const HashGridOptions& options = {});

}  // namespace hearth::nn
