# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
extends SceneTree

# Compiles the creatures' package before the game is exported: godot --headless --script cook.gd

func _initialize() -> void:
	var package := HearthPackage.cook_agents(Creatures.SPEC)
	if package.data.is_empty():
		printerr(package.error())
		quit(1)
		return
	quit(ResourceSaver.save(package, Creatures.FILE))
