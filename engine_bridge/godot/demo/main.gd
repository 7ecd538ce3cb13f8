# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
extends Node2D

# Creatures learn to walk to their food while the game runs.  The game is saved when it ends, and goes on when it starts
# again.  `godot -- --frames=N` ends it after N frames, each of which learns all that is due, whatever time it takes: a
# game that was saved and loaded is then bit-equal to one that was not.

const BRAIN := "user://game.brain"
const STATE := "user://game.state"
const SPEED := 0.05

var agents := HearthAgents.new()
var ids: Array[int] = []
var places: PackedVector2Array
var food: PackedVector2Array
var random := RandomNumberGenerator.new()
var frame := 0
var frames_left := -1
var distance := 0.0  # of the creatures to their food, averaged over the last frames

func _ready() -> void:
	for argument in OS.get_cmdline_user_args():
		if argument.begins_with("--frames="):
			frames_left = argument.trim_prefix("--frames=").to_int()
			agents.learning_budget_us = INF
	agents.failed.connect(_on_failed)
	agents.package = Creatures.package()
	if not (_load() if FileAccess.file_exists(STATE) else _start()):
		get_tree().quit(1)

func _on_failed(message: String) -> void:
	printerr("agents: ", message)

func _start() -> bool:
	random.seed = 7
	for i in Creatures.COUNT:
		var id := agents.add()
		if id == -1:
			return false
		ids.append(id)
		places.append(_random_place())
		food.append(_random_place())
	print("a new game")
	return _decide()

func _random_place() -> Vector2:
	return Vector2(random.randf(), random.randf())

func _physics_process(_delta: float) -> void:
	if frames_left == 0:
		set_physics_process(false)
		get_tree().quit(0 if _save() else 1)
		return
	frames_left -= 1
	frame += 1
	for i in ids.size():
		var walk := agents.action(ids[i])
		if walk.is_empty():
			get_tree().quit(1)
			return
		var before := places[i].distance_to(food[i])
		places[i] = (places[i] + SPEED * Vector2(walk[0], walk[1])).clamp(Vector2.ZERO, Vector2.ONE)
		var now := places[i].distance_to(food[i])
		distance += 0.01 * (now - distance)
		agents.add_reward(ids[i], 10.0 * (before - now))
		if now < SPEED:
			food[i] = _random_place()
			agents.end_episode(ids[i])
	_decide()
	queue_redraw()

# Decides and learns on a thread, while this frame goes on.
func _decide() -> bool:
	for i in ids.size():
		agents.observe_fields(ids[i], {"to_food": food[i] - places[i]})
	return agents.decide()

func _save() -> bool:
	var brain := agents.save_game()
	if brain == null or ResourceSaver.save(brain, BRAIN) != OK:
		return false
	var file := FileAccess.open(STATE, FileAccess.WRITE)
	if file == null:
		return false
	file.store_var({"ids": ids, "places": places, "food": food, "random": random.state, "frame": frame,
		"distance": distance})
	file.close()
	print("saved after frame %d, %d gradient steps, mean distance to the food %.3f" % [frame,
		agents.status()["gradient_steps"], distance])
	print("brain ", FileAccess.get_sha256(BRAIN).left(16), ", game ", FileAccess.get_sha256(STATE).left(16))
	return true

func _load() -> bool:
	var file := FileAccess.open(STATE, FileAccess.READ)
	var state: Dictionary = file.get_var()
	ids.assign(state["ids"])
	places = state["places"]
	food = state["food"]
	random.state = state["random"]
	frame = state["frame"]
	distance = state["distance"]
	print("goes on after frame ", frame)
	return agents.load(ResourceLoader.load(BRAIN, "", ResourceLoader.CACHE_MODE_IGNORE))

func _draw() -> void:
	for i in ids.size():
		draw_circle(places[i] * 512.0, 8.0, Color.ORANGE)
		draw_circle(food[i] * 512.0, 4.0, Color.GREEN)
