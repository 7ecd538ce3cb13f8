# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
@tool
class_name HearthDataSaver extends ResourceFormatSaver

# Saves a HearthPackage as .hearth and a HearthBrain as .brain.  A file is replaced only by a whole one.

func _recognize(resource: Resource) -> bool:
	return resource is HearthPackage or resource is HearthBrain

func _get_recognized_extensions(resource: Resource) -> PackedStringArray:
	return PackedStringArray(["brain" if resource is HearthBrain else "hearth"])

func _save(resource: Resource, path: String, _flags: int) -> Error:
	var part := path + ".part"
	var file := FileAccess.open(part, FileAccess.WRITE)
	if file == null:
		return FileAccess.get_open_error()
	file.store_buffer(resource.data)
	file.flush()
	var error := file.get_error()
	file.close()
	return error if error != OK else DirAccess.rename_absolute(part, path)
