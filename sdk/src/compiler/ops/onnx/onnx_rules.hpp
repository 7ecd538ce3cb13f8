// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// ONNX import rules of operators for which passing on inputs and attributes is not enough. Each
// function handles all versions of its operator from the one in the record's column on.

#pragma once

#include <hearth/op/onnx_call.hpp>
#include <hearth/ops.hpp>

#include <vector>

namespace hearth {

std::vector<Tensor> import_bit_shift(OnnxCall& call);
std::vector<Tensor> import_bitcast(OnnxCall& call);
std::vector<Tensor> import_attention(OnnxCall& call);
std::vector<Tensor> import_cast(OnnxCall& call);
std::vector<Tensor> import_causal_conv_with_state(OnnxCall& call);
std::vector<Tensor> import_clip(OnnxCall& call);
std::vector<Tensor> import_concat(OnnxCall& call);
std::vector<Tensor> import_cumprod(OnnxCall& call);
std::vector<Tensor> import_cumsum(OnnxCall& call);
std::vector<Tensor> import_dynamic_quantize_lstm(OnnxCall& call);
std::vector<Tensor> import_expand(OnnxCall& call);
std::vector<Tensor> import_gather(OnnxCall& call);
std::vector<Tensor> import_gather_nd(OnnxCall& call);
std::vector<Tensor> import_gelu(OnnxCall& call);
std::vector<Tensor> import_gru(OnnxCall& call);
std::vector<Tensor> import_linear_attention(OnnxCall& call);
std::vector<Tensor> import_log_softmax(OnnxCall& call);
std::vector<Tensor> import_lrn(OnnxCall& call);
std::vector<Tensor> import_lstm(OnnxCall& call);
std::vector<Tensor> import_one_hot(OnnxCall& call);
std::vector<Tensor> import_pad(OnnxCall& call);
std::vector<Tensor> import_pow(OnnxCall& call);
std::vector<Tensor> import_reshape(OnnxCall& call);
std::vector<Tensor> import_reverse_sequence(OnnxCall& call);
std::vector<Tensor> import_scatter_elements(OnnxCall& call);
std::vector<Tensor> import_scatter_nd(OnnxCall& call);
std::vector<Tensor> import_rnn(OnnxCall& call);
std::vector<Tensor> import_rotary_embedding(OnnxCall& call);
std::vector<Tensor> import_slice(OnnxCall& call);
std::vector<Tensor> import_softmax(OnnxCall& call);
std::vector<Tensor> import_tensor_scatter(OnnxCall& call);
std::vector<Tensor> import_top_k(OnnxCall& call);

/// Folds all inputs pairwise from the left.
std::vector<Tensor> import_chain(OnnxCall& call, Tensor (*join)(const Tensor&, const Tensor&));
std::vector<Tensor> import_arg(OnnxCall& call, Tensor (*function)(const Tensor&, int64_t, bool));
using ReductionFunction = Tensor (*)(const Tensor&, const Axes&, bool);
/// of_flags: the reduction for bools; null: unsupported.
std::vector<Tensor> import_reduce(OnnxCall& call, ReductionFunction function,
                                  ReductionFunction of_flags = nullptr);

/// Operands of ONNX's Reduce* operators: input 0, reduced over the node's axes, in each of the ways
/// in which versions of ONNX give them.
class OnnxReduction {
  public:
    explicit OnnxReduction(OnnxCall& call);
    const Tensor& x() const { return x_; }
    /// Applies `reduce` to `x`; returns x itself if the node requests no reduction.
    Tensor run(Tensor (*reduce)(const Tensor&, const Axes&, bool), const Tensor& x) const {
        return is_noop_ ? x : reduce(x, axes_, keep_dims_);
    }

  private:
    Tensor x_;
    Axes axes_;
    bool keep_dims_ = true;
    bool is_noop_ = false;
};

}  // namespace hearth
