// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// All that a game with the compiler needs in its first hour: agents that learn, networks of one's
// own, the runtime, files, and the CPU as a device (link hearth::cpu for it).  A game that ships
// cooked packages includes hearth_runtime.hpp and agents.hpp alone.

#pragma once

#include <hearth/agents.hpp>
#include <hearth/agents/demo.hpp>
#include <hearth/agents/diagnose.hpp>
#include <hearth/agents/extend_brain.hpp>
#include <hearth/agents/learners.hpp>
#include <hearth/agents/make_agents.hpp>
#include <hearth/agents/run_log.hpp>
#include <hearth/agents/self_play.hpp>
#include <hearth/brain_file.hpp>
#include <hearth/compile.hpp>
#include <hearth/core/cpp20.hpp>
#include <hearth/cpu.hpp>
#include <hearth/eval.hpp>
#include <hearth/executor.hpp>
#include <hearth/file.hpp>
#include <hearth/fit.hpp>
#include <hearth/grad.hpp>
#include <hearth/hearth_runtime.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/operators.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>
