# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
extends Node

# A network that learns y = 2 x while it runs, and goes on from what it had learned when the game starts again.  Its
# package has the entries "act" (x -> y) and "learn" (x, target -> loss).
const BRAIN := "user://line.brain"
var network := HearthNetwork.new()

func _ready() -> void:
	if not network.open("res://line.hearth", ""):
		push_error(network.error())
		set_process(false)
	elif FileAccess.file_exists(BRAIN) and not network.load(FileAccess.get_file_as_bytes(BRAIN)):
		push_error(network.error())

func _process(_delta: float) -> void:
	var x := randf()
	var loss := network.run("learn", PackedFloat32Array([x, 2.0 * x]), 1)
	var y := network.run("act", PackedFloat32Array([0.5]), 1)
	if loss.is_empty() or y.is_empty():
		push_error(network.error())
	else:
		print("loss ", loss[0], ", y(0.5) = ", y[0])

func _exit_tree() -> void:
	var brain := network.save()
	if brain.is_empty():
		push_error(network.error())
	else:
		FileAccess.open(BRAIN, FileAccess.WRITE).store_buffer(brain)
