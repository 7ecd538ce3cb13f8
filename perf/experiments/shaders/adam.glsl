// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Adam (Kingma and Ba 2015, algorithm 1) on four parameters at once.

const float kBeta1 = 0.9;
const float kBeta2 = 0.999;
const float kEpsilon = 1e-8;

vec4 adam(vec4 w, vec4 g, inout vec4 m, inout vec4 v, float step, float learning_rate) {
    m = kBeta1 * m + (1.0 - kBeta1) * g;
    v = kBeta2 * v + (1.0 - kBeta2) * g * g;
    const vec4 m_hat = m / (1.0 - pow(kBeta1, step));
    const vec4 v_hat = v / (1.0 - pow(kBeta2, step));
    return w - learning_rate * m_hat / (sqrt(v_hat) + kEpsilon);
}
