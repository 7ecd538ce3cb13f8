// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What optimizers share.

#pragma once

#include <hearth/tensor.hpp>

#include <span>
#include <string_view>

namespace hearth {

/// The trace of params that can be updated with these gradients, or null after reporting why not.
Trace* checked_trace(std::span<const Tensor> params, std::span<const Tensor> gradients,
                     std::string_view optimizer);

/// A state of the param's type and shape, zero at first, named "PARAM.suffix".
Tensor state_beside(const Tensor& param, std::string_view suffix);

}  // namespace hearth
