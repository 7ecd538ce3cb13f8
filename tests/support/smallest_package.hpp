// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The smallest package with a part of each kind, which fuzz targets and tests/hostile change.

#pragma once

#include <hearth/compile.hpp>
#include <hearth/ops.hpp>

namespace hearth::testing {

/// Two entries on one param and one state.
inline Result<Cooked> cook_smallest_package() {
    const Shape shape{kBatch, 3};
    Trace act("act"), learn("learn");
    const auto weight = [](Trace& trace) { return trace.param("weight", {3}, Init::constant(2)); };
    act.output("action", tanh(act.input("observation", shape) * weight(act)));
    const Tensor steps = learn.state("steps", {});
    learn.assign(steps, steps + 1.0);
    learn.assign(weight(learn), weight(learn) * 0.5 + sum(learn.input("seen", shape), {0}));
    DeviceTarget profile;
    profile.options.keep_source = false;
    return cook({&act, &learn}, {.device_targets = {profile}, .max_batch_size = 8});
}

}  // namespace hearth::testing
