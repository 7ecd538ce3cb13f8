# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
class_name Creatures

# What the creatures see and do, and how they learn: keys as in hearth_cook_agents of hearth_workbench.h.
const COUNT := 8
const SPEC := {
	"max_batch_size": COUNT,
	"observations": [{"name": "to_food", "kind": "box", "size": 2, "low": -1, "high": 1}],
	"actions": [{"name": "walk", "kind": "continuous", "size": 2, "low": -1, "high": 1}],
	"network": {"kind": "mlp", "hidden_sizes": [32, 32]},
	"learner": {"kind": "ppo", "n_agents": COUNT, "n_steps": 32, "n_minibatches": 2, "gamma": 0.9,
		"learning_rate": 0.003},
	"seed": 1,
}
const FILE := "res://creatures.hearth"

# The package that cook.gd made, which exports contain, or a new one.
static func package() -> HearthPackage:
	return load(FILE) if ResourceLoader.exists(FILE) else HearthPackage.cook_agents(SPEC)
