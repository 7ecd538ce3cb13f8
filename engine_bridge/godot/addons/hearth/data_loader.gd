# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
@tool
class_name HearthDataLoader extends ResourceFormatLoader

# Loads .hearth files as HearthPackage and .brain files as HearthBrain.  They are assets: the editor shows them, and
# exports include them.

func _get_recognized_extensions() -> PackedStringArray:
	return PackedStringArray(["hearth", "brain"])

func _handles_type(type: StringName) -> bool:
	return type in [&"HearthPackage", &"HearthBrain", &"Resource"]

func _get_resource_type(path: String) -> String:
	match path.get_extension():
		"hearth": return "HearthPackage"
		"brain": return "HearthBrain"
	return ""

func _load(path: String, _original_path: String, _use_sub_threads: bool, _cache_mode: int) -> Variant:
	var resource: Resource = HearthBrain.new() if path.get_extension() == "brain" else HearthPackage.new()
	resource.data = FileAccess.get_file_as_bytes(path)
	return resource if resource.data.size() > 0 else ERR_FILE_CANT_READ
