// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include <hearth/host_tensor.hpp>
#include <hearth/tensor.hpp>

#include <memory>

namespace hearth {

/// As Trace::constant(), of data that other graphs may share. data: not null; not copied.
Tensor shared_constant(Trace& trace, std::shared_ptr<const HostTensor> data);

}  // namespace hearth
