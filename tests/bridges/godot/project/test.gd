# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
extends Node

# Tests the add-on in Godot itself.  res://line.hearth: act x -> y; learn x, target -> loss; at most 64 rows.  Ends with
# a line "N passed, N failed".

@export var network: HearthNetwork

var passed := 0
var failed := 0

func check(is_right: bool, what: String) -> void:
	if is_right:
		passed += 1
	else:
		failed += 1
		printerr("failed: ", what)

func equal(found: Variant, expected: Variant, what: String) -> void:
	check(found == expected, "%s: found %s, expected %s" % [what, found, expected])

func opened(path := "res://line.hearth") -> HearthNetwork:
	var n := HearthNetwork.new()
	check(n.open(path), n.error())
	return n

func run_and_say(n: HearthNetwork, entry: String, inputs: Array, rows: int, error: String) -> void:
	equal(n.run(entry, PackedFloat32Array(inputs), rows), PackedFloat32Array(), entry)
	check(n.error().contains(error), "'%s' lacks '%s'" % [n.error(), error])

func _ready() -> void:
	test_errors()
	test_nan()
	test_fields()
	test_scene_resource()
	test_brain_files()
	test_shared_device()
	test_thread()
	await test_signals()
	await test_budget()
	test_agents()
	test_documentation()
	print("%d passed, %d failed" % [passed, failed])
	get_tree().quit(0 if failed == 0 else 1)

func test_errors() -> void:
	var n := HearthNetwork.new()
	run_and_say(n, "act", [1], 1, "call open() first")
	check(not n.open("nothing.hearth"), "it opened nothing")
	check(n.error().contains("no such file"), n.error())
	check(not n.open("res://line.hearth", "RTX 9090") and n.error().contains("no device is named 'RTX 9090'"), n.error())
	check(not n.open("res://line.hearth", "native") and n.error().contains("no device is named 'native'"), n.error())
	check(not n.open("res://test.gd") and n.error().contains("no package"), n.error())
	check(n.open(ProjectSettings.globalize_path("res://line.hearth")), n.error())
	check(n.open("res://line.hearth"), n.error())
	run_and_say(n, "main", [1], 1, "there are: act, learn")
	run_and_say(n, "learn", [1], 1, "target: expected 1 values, found 0")
	run_and_say(n, "act", [1, 2, 3], 1, "the entry takes 1 values, found 3")
	run_and_say(n, "act", [], 0, "batch_size: expected 1 to 64, found 0")
	run_and_say(n, "act", [1], 65, "batch_size: expected 1 to 64, found 65")
	equal(n.run("act", [1], 1).size(), 1, "an Array as inputs")
	equal(n.error(), "", "the error of a call that succeeded")
	equal(n.load(null), false, "loading null")
	check(n is Resource, "it is no Resource")

func test_nan() -> void:
	var n := opened()
	var before := n.run("act", [0.5])
	for bad in [NAN, INF, -INF]:
		run_and_say(n, "learn", [bad, 1.0], 1, "expected a finite number")
	equal(n.run("act", [0.5]), before, "after NaN")
	for i in 20:
		n.run("learn", [0.5, 1.0])
	check(absf(n.run("act", [0.5])[0] - 1.0) < 0.2, "it does not learn after NaN")
	# A finite input can overflow: the error says what to do, and reset() does it.
	n.run("learn", [1e38, 1.0])
	check(n.error().contains("call reset()"), "an overflow: '%s'" % n.error())
	equal(n.save(), null, "a brain with NaN")
	check(n.reset() and n.run("act", [0.5]) == before, n.error())

func test_fields() -> void:
	var n := opened()
	var y := n.run("act", [0.25, 0.5], 2)
	for x: Variant in [[0.25, 0.5], PackedFloat32Array([0.25, 0.5]), PackedFloat64Array([0.25, 0.5]), Vector2(0.25, 0.5)]:
		equal(n.run_fields("act", {"x": x}), {"y": y}, "x as %s" % type_string(typeof(x)))
	equal(n.run_fields("act", {"x": 1}).keys(), ["y"], "an int")
	equal(n.run_fields("learn", {"x": [1, 2], "target": [2, 4]}).keys(), ["loss"], "two rows")
	equal(n.run_fields("act", {}), {}, "no inputs")
	check(n.error().contains("the input x is missing"), n.error())
	equal(n.run_fields("act", {"x": 1, "z": 1}), {}, "an unknown input")
	check(n.error().contains("no input z; the inputs are x"), n.error())
	equal(n.run_fields("act", {"x": "text"}), {}, "a text")
	check(n.error().contains("x: expected a number"), n.error())

# A network in a scene, whose package is an asset.
func test_scene_resource() -> void:
	equal(network.package.resource_path, "res://line.hearth", "the package of the scene")
	equal(network.learning_budget_us, 100.0, "a property of the scene")
	equal(network.run("act", [0.5]).size(), 1, network.error())
	check(network.is_open(), "the scene's network is not open")
	network.package = null
	check(not network.is_open(), "still open without a package")
	equal(load("res://line.hearth").data, FileAccess.get_file_as_bytes("res://line.hearth"), "the asset's bytes")

func test_brain_files() -> void:
	var n := opened()
	for i in 5:
		n.run("learn", [0.5, 1.0])
	var learned := n.run("act", [0.5])
	var brain := n.save()
	for path: String in ["user://line.brain", "user://line.res", "user://line.tres"]:
		equal(ResourceSaver.save(brain, path), OK, path)
		var loaded: HearthBrain = ResourceLoader.load(path, "", ResourceLoader.CACHE_MODE_IGNORE)
		var other := opened()
		check(other.load(loaded), other.error())
		equal(other.run("act", [0.5]), learned, path)
	check(not FileAccess.file_exists("user://line.brain.part"), "a part of a file is left")
	var broken := HearthBrain.new()
	broken.data = brain.data.slice(0, 100)
	check(not n.load(broken) and n.error().contains("load: brain"), n.error())
	equal(n.run("act", [0.5]), learned, "after a broken brain")

func test_shared_device() -> void:
	var first := opened()
	var start := Time.get_ticks_usec()
	var many: Array[HearthNetwork] = []
	for i in 8:
		many.append(opened())
	print("opening 8 networks: ", (Time.get_ticks_usec() - start) / 1000, " ms")
	var before := first.run("act", [0.5])
	many[0].run("learn", [0.5, 1.0])
	equal(first.run("act", [0.5]), before, "networks share weights")

func test_thread() -> void:
	var n := opened()
	var thread := Thread.new()
	thread.start(func() -> PackedFloat32Array: return n.run("learn", [0.5, 1.0]))
	equal(thread.wait_to_finish().size(), 1, "from a thread")

func test_signals() -> void:
	var n := opened()
	var messages: Array[String] = []
	n.failed.connect(func(message: String) -> void: messages.append(message))
	n.run("act", [])
	await get_tree().process_frame
	equal(messages, [n.error()] as Array[String], "the signal failed")
	check(n.start("learn", {"x": [0.5], "target": [1.0]}), n.error())
	var finished: Array = await n.finished
	equal(finished[0], "learn", "the entry that finished")
	equal(finished[1].keys(), ["loss"], "its outputs")
	check(not n.start("learn", {"x": [0.5]}), "it started without its inputs")

# On a thread, in pieces, a network learns what it learns in one piece.
func test_budget() -> void:
	var a := opened()
	var b := opened()
	a.learning_budget_us = 1.0
	for i in 5:
		check(a.start("learn", {"x": [0.5, 0.25], "target": [1.0, 0.5]}), a.error())
		await a.finished
		b.run_fields("learn", {"x": [0.5, 0.25], "target": [1.0, 0.5]})
	equal(a.run("act", [0.5]), b.run("act", [0.5]), "in pieces and in one")

func test_agents() -> void:
	var package := HearthPackage.cook_agents({
		"max_batch_size": 4,
		"observations": [{"name": "sign", "kind": "box", "size": 1}],
		"actions": [{"name": "move", "kind": "continuous", "low": -1, "high": 1}],
		"learner": {"kind": "ppo", "n_agents": 4, "n_steps": 8, "n_minibatches": 1, "n_epochs": 1}})
	equal(package.error(), "", "cooking agents")
	equal(HearthPackage.cook_agents({"colour": "red"}).data.size(), 0, "cooking nothing")
	var agents := HearthAgents.new()
	agents.package = package
	agents.learning_budget_us = INF
	var agent := agents.add()
	check(agent != -1, agents.error())
	check(not agents.observe(agent, [NAN]) and agents.error().contains("expected a finite number"), agents.error())
	check(not agents.observe(agent, [1, 2]) and agents.error().contains("expected 1 values"), agents.error())
	check(not agents.observe(agent + 1, [1]) and agents.error().contains("no such agent"), agents.error())
	check(not agents.add_reward(agent, NAN), "a reward of NaN")
	for i in 20:
		check(agents.observe_fields(agent, {"sign": 1 - 2 * (i % 2)}) and agents.decide(), agents.error())
		equal(agents.action_field(agent, "move"), agents.action(agent), "an action by name")
		agents.add_reward(agent, -absf(agents.action(agent)[0] - 1 + 2 * (i % 2)))
	check(agents.status()["gradient_steps"] >= 2, "it learned nothing")
	var game := agents.save_game()
	var first := HearthAgents.new()
	var second := HearthAgents.new()
	for other: HearthAgents in [first, second]:
		other.package = package
		other.learning_budget_us = INF
		check(other.load(game), other.error())
		equal(other.count(), 1, "agents of the saved game")
	second.threaded = false
	for i in 20:
		for other: HearthAgents in [first, second]:
			other.observe(agent, [i % 3])
			other.decide()
		equal(first.action(agent), second.action(agent), "two continued games")

# The class reference describes each method, property and signal, and no others.
func test_documentation() -> void:
	for name: String in ["HearthPackage", "HearthBrain", "HearthNetwork", "HearthAgents"]:
		var described := {}
		var parser := XMLParser.new()
		equal(parser.open("res://addons/hearth/doc_classes/%s.xml" % name), OK, name)
		var arguments: Array = []
		while parser.read() == OK:
			if parser.get_node_type() != XMLParser.NODE_ELEMENT:
				continue
			var tag := parser.get_node_name()
			if tag in ["method", "signal"]:
				arguments = []
				described[tag + " " + parser.get_named_attribute_value("name")] = arguments
			elif tag == "param":
				arguments.append([parser.get_named_attribute_value("name"), parser.get_named_attribute_value("type")])
			elif tag == "member":
				described["member " + parser.get_named_attribute_value("name")] = parser.get_named_attribute_value("type")
		var found := {}
		var accessors: Array[String] = []
		for property in ClassDB.class_get_property_list(name, true):
			found["member " + property.name] = type_name(property)
			accessors.append_array(["set_" + property.name, "get_" + property.name])
		for method in ClassDB.class_get_method_list(name, true):
			if method.name not in accessors:
				found["method " + method.name] = method.args.map(func(a: Dictionary) -> Array: return [a.name, type_name(a)])
		for described_signal in ClassDB.class_get_signal_list(name, true):
			found["signal " + described_signal.name] = described_signal.args.map(
				func(a: Dictionary) -> Array: return [a.name, type_name(a)])
		for key: String in found.keys() + described.keys():
			equal(described.get(key), found.get(key), "%s: %s, as described" % [name, key])

func type_name(property: Dictionary) -> String:
	return property["class_name"] if property["type"] == TYPE_OBJECT else type_string(property["type"])
