// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Names kinds of variables in messages and listings.

#pragma once

#include "program/program.hpp"

namespace hearth {

constexpr const char* name_of(VariableKind kind) {
    switch (kind) {
        case VariableKind::kParam:
            return "param";
        case VariableKind::kState:
            return "state";
        case VariableKind::kConstant:
            return "constant";
        case VariableKind::kTransient:
            break;
    }
    return "non-persistent state";
}

}  // namespace hearth
