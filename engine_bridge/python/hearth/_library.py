# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Binds libhearth.so with ctypes: the structs and functions of hearth.h, hearth_agents.h and hearth_workbench.h that
the package uses, with the names of the headers.

The library lies beside this file, where the wheel installs it, or HEARTH_LIBRARY names it.
"""

from __future__ import annotations

import ctypes
import os
import re
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char, c_char_p, c_double, c_float, c_int, c_int64,
                    c_uint32, c_uint64, c_void_p)
from pathlib import Path
from typing import Any

VERSION = (0 << 22) | (2 << 12)  # HEARTH_VERSION of the headers that these bindings match

_CONTROL_CHARACTERS = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class HearthError(RuntimeError):
    """A call of Hearth failed.  The text is the library's message, `code` the hearth_result and `name` its name."""

    def __init__(self, message: str, code: int = -14, name: str = "HEARTH_ERROR_INTERNAL") -> None:
        # Texts may quote names from files, which must not control terminals.
        super().__init__(_CONTROL_CHARACTERS.sub("?", message))
        self.code = code
        self.name = name


def _find() -> str:
    named = os.environ.get("HEARTH_LIBRARY")
    if named:
        if not Path(named).is_file():
            raise HearthError(f"HEARTH_LIBRARY names {named}, which is not a file; expected the path of libhearth.so")
        return named
    beside = Path(__file__).with_name("libhearth.so")
    if not beside.is_file():
        raise HearthError(f"found no libhearth.so at {beside}, and HEARTH_LIBRARY is not set: install the package with "
                          "`pip install`, which builds it, or build the target hearth_workbench_shared")
    return str(beside)


class Messages(Structure):
    _fields_ = [("message_count", c_uint32), ("text", c_char * 4092)]


class _Tagged(Structure):
    """A struct that begins with type and size."""

    TYPE = 0

    def __init__(self, **fields: Any) -> None:
        super().__init__(type=self.TYPE, size=ctypes.sizeof(self), **fields)


_HEAD = [("type", c_uint32), ("size", c_uint32)]


class ProgramInfo(_Tagged):
    TYPE = 6
    _fields_ = _HEAD + [("hash", c_uint64), ("device_target", c_char_p), ("max_batch_size", c_uint64),
                        ("arena_bytes", c_uint64), ("weights_bytes", c_uint64), ("binding_model", c_uint32),
                        ("kernel_count", c_uint32), ("entry_count", c_uint32), ("binding_count", c_uint32),
                        ("variable_count", c_uint32), ("command_count", c_uint32), ("graph_hash", c_uint64)]


class EntryInfo(_Tagged):
    TYPE = 7
    _fields_ = _HEAD + [("name", c_char_p), ("bindings", POINTER(c_uint32)), ("binding_count", c_uint32),
                        ("command_count", c_uint32), ("dispatch_count", c_uint32), ("barrier_count", c_uint32),
                        ("arena_bytes", c_uint64), ("flops", c_uint64), ("bytes_moved", c_uint64)]


class Dim(Structure):
    _fields_ = [("count", c_int64), ("is_batch", c_uint32), ("reserved", c_uint32)]


class BindingInfo(_Tagged):
    TYPE = 8
    _fields_ = _HEAD + [("name", c_char_p), ("is_output", c_uint32), ("dtype", c_uint32), ("device_dtype", c_uint32),
                        ("rank", c_uint32), ("dims", Dim * 8), ("bytes_fixed", c_uint64), ("bytes_per_item", c_uint64),
                        ("scalar_count", c_uint32), ("is_inout", c_uint32)]


class VariableInfo(_Tagged):
    TYPE = 9
    _fields_ = _HEAD + [("name", c_char_p), ("kind", c_uint32), ("dtype", c_uint32), ("device_dtype", c_uint32),
                        ("rank", c_uint32), ("dims", Dim * 8), ("bytes", c_uint64)]


VARIABLE_KINDS = ("param", "state", "constant", "non_persistent")


class SessionCreateInfo(_Tagged):
    TYPE = 10
    _fields_ = _HEAD + [("program", c_void_p), ("name", c_char_p), ("flags", c_uint32),
                        ("recordings_in_flight", c_uint32), ("max_inline_bytes", c_uint32), ("upload_count", c_uint32),
                        ("upload_bytes", c_uint64), ("readback_bytes", c_uint64), ("readback_count", c_uint32),
                        ("max_pending_timings", c_uint32), ("query_pool", c_void_p), ("first_query", c_uint32),
                        ("query_count", c_uint32), ("arena", c_void_p)]


class SyncScope(Structure):
    _fields_ = [("stages", c_uint64), ("access", c_uint64), ("queue_family", c_uint32), ("reserved", c_uint32)]


SAME_QUEUE_FAMILY = 0xFFFFFFFF
TRUST_KERNELS = 0x2  # HEARTH_HEADLESS_TRUST_KERNELS


class TensorBinding(Structure):
    _fields_ = [("binding", c_uint32), ("usage", c_uint32), ("buffer", c_void_p), ("offset", c_uint64),
                ("bytes", c_uint64), ("device_address", c_uint64), ("item_stride", c_uint64), ("data", c_void_p),
                ("acquire_scope", SyncScope), ("release_scope", SyncScope)]


class RecordInfo(_Tagged):
    TYPE = 13
    _fields_ = _HEAD + [("command_buffer", c_void_p), ("entry", c_uint32), ("binding_count", c_uint32),
                        ("bindings", POINTER(TensorBinding)), ("batch_size", c_uint64), ("barriers", c_uint32),
                        ("reserved", c_uint32), ("indirect_batch_buffer", c_void_p), ("max_dispatches", c_uint32),
                        ("max_workgroups", c_uint32), ("max_flops", c_uint64), ("max_bytes_moved", c_uint64),
                        ("gpu_time_budget_us", c_double), ("occupancy_priority", c_float), ("reserved2", c_uint32)]


class ReadbackInfo(_Tagged):
    TYPE = 14
    _fields_ = _HEAD + [("command_buffer", c_void_p), ("buffer", c_void_p), ("variable", c_uint32),
                        ("reserved", c_uint32), ("offset", c_uint64), ("byte_count", c_uint64),
                        ("acquire_scope", SyncScope), ("regions", c_void_p), ("region_count", c_uint32),
                        ("reserved2", c_uint32)]


class BrainInfo(_Tagged):
    TYPE = 20
    _fields_ = _HEAD + [("graph_hash", c_uint64), ("schema_hash", c_uint64), ("base_hash", c_uint64),
                        ("user_schema_hash", c_uint64), ("tensor_count", c_uint32), ("changed_count", c_uint32),
                        ("is_delta", c_uint32), ("format_version", c_uint32), ("user_data", c_void_p),
                        ("user_data_size", c_uint64), ("is_weights", c_uint32), ("is_saved_game", c_uint32)]


class BrainSaveInfo(_Tagged):
    TYPE = 21
    _fields_ = _HEAD + [("snapshot", c_void_p), ("snapshot_bytes", c_uint64), ("flags", c_uint32),
                        ("reserved", c_uint32), ("user_schema_hash", c_uint64), ("user_data", c_void_p),
                        ("user_data_size", c_uint64)]


class HeadlessBuffer(Structure):
    _fields_ = [("buffer", c_void_p), ("data", c_void_p), ("bytes", c_uint64), ("usage", c_uint32),
                ("reserved", c_uint32)]


class Agent(Structure):
    _fields_ = [("index", c_uint32), ("generation", c_uint32)]


class AgentsCreateInfo(_Tagged):
    TYPE = 1000
    _fields_ = _HEAD + [("program", c_void_p), ("manifest", c_void_p), ("manifest_bytes", c_uint64),
                        ("name", c_char_p), ("frames_in_flight", c_uint32), ("use_separate_learning_queue", c_uint32),
                        ("schema", c_void_p), ("schema_bytes", c_uint64), ("max_snapshots", c_uint32),
                        ("snapshot_interval", c_uint32), ("progress_window", c_uint32),
                        ("learning_queue_family", c_uint32), ("max_host_bytes", c_uint64),
                        ("enable_saved_games", c_uint32), ("reserved", c_uint32)]


class AgentsRecordInfo(_Tagged):
    TYPE = 1001
    _fields_ = _HEAD + [("command_buffer", c_void_p), ("exploration", c_float), ("request_decision", c_uint32),
                        ("learning_budget_us", c_double), ("priority", c_uint32), ("reserved", c_uint32),
                        ("max_decision_frames", c_uint32), ("input_count", c_uint32), ("inputs", c_void_p),
                        ("indirect_agent_count_buffer", c_void_p), ("learning_command_buffer", c_void_p)]


class AgentsStatus(_Tagged):
    TYPE = 1002
    _fields_ = _HEAD + [("phase", c_uint32), ("agents", c_uint32), ("minibatches_done", c_uint32),
                        ("minibatches", c_uint32), ("minibatch_us_p95", c_double), ("decisions", c_uint64),
                        ("rollouts", c_uint64), ("rewards_rejected", c_uint64), ("frame_number", c_uint64),
                        ("metrics", c_float * 13), ("counters", c_uint64 * 16), ("decision_us_p95", c_double),
                        ("frozen", c_uint32), ("snapshots", c_uint32), ("is_plateaued", c_uint32),
                        ("reward_shift_detected", c_uint32), ("score", c_double), ("initial_score", c_double),
                        ("rollbacks", c_uint64), ("snapshots_rejected", c_uint64), ("snapshots_taken", c_uint64),
                        ("snapshot_phase", c_uint32), ("reserved", c_uint32), ("update_frames", c_uint64),
                        ("update_frames_over_budget", c_uint64), ("frames_without_update", c_uint64),
                        ("update_us_left", c_double), ("owed_gradient_steps", c_double), ("samples_paused", c_uint64),
                        ("rewards_after_end", c_uint64), ("repeated_ends", c_uint64), ("brains_rejected", c_uint64)]


_P = c_void_p
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    # hearth.h
    "hearth_result_name": (c_char_p, [c_int]),
    "hearth_version": (c_uint32, []),
    "hearth_check_version": (c_int, [c_uint32]),
    "hearth_build_info": (c_char_p, []),
    "hearth_context_error": (c_char_p, [_P]),
    "hearth_program_destroy": (None, [_P]),
    "hearth_program_error": (c_char_p, [_P]),
    "hearth_program_get_info": (c_int, [_P, POINTER(ProgramInfo)]),
    "hearth_program_get_entry": (c_int, [_P, c_uint32, POINTER(EntryInfo)]),
    "hearth_program_get_binding": (c_int, [_P, c_uint32, POINTER(BindingInfo)]),
    "hearth_program_get_variable": (c_int, [_P, c_uint32, POINTER(VariableInfo)]),
    "hearth_program_find_entry": (c_int, [_P, c_char_p, POINTER(c_uint32)]),
    "hearth_program_find_variable": (c_int, [_P, c_char_p, POINTER(c_uint32)]),
    "hearth_program_get_brain_size": (c_uint64, [_P]),
    "hearth_session_create": (c_int, [_P, POINTER(SessionCreateInfo), POINTER(_P)]),
    "hearth_session_destroy": (None, [_P]),
    "hearth_session_error": (c_char_p, [_P]),
    "hearth_session_create_pipelines": (c_int, [_P, c_uint32]),
    "hearth_record": (c_int, [_P, POINTER(RecordInfo), _P]),
    "hearth_record_initialize": (c_int, [_P, _P]),
    "hearth_record_update_variable": (c_int, [_P, _P, c_uint32, c_uint64, _P, c_uint64]),
    "hearth_record_readback": (c_int, [_P, POINTER(ReadbackInfo), POINTER(c_uint64)]),
    "hearth_readback_poll": (c_int, [_P, c_uint64, POINTER(_P), POINTER(c_uint64), POINTER(c_uint64)]),
    "hearth_readback_release": (None, [_P, c_uint64]),
    "hearth_brain_get_info": (c_int, [_P, c_uint64, POINTER(BrainInfo), POINTER(Messages)]),
    "hearth_record_save_brain": (c_int, [_P, _P, POINTER(c_uint64)]),
    "hearth_brain_encode": (c_int, [_P, POINTER(BrainSaveInfo), _P, POINTER(c_uint64)]),
    "hearth_record_load_brain": (c_int, [_P, _P, _P, c_uint64, c_uint32, POINTER(Messages)]),
    "hearth_record_reset_variables": (c_int, [_P, _P, c_char_p, POINTER(c_uint32)]),
    # hearth_agents.h
    "hearth_agents_create": (c_int, [_P, POINTER(AgentsCreateInfo), POINTER(_P), POINTER(Messages)]),
    "hearth_agents_destroy": (None, [_P]),
    "hearth_agents_error": (c_char_p, [_P]),
    "hearth_agents_get_session": (_P, [_P]),
    "hearth_agents_add": (c_int, [_P, POINTER(Agent)]),
    "hearth_agents_remove": (c_int, [_P, Agent]),
    "hearth_agents_action_mask_size": (c_uint32, [_P]),
    "hearth_agents_action_mask": (POINTER(c_float), [_P, Agent]),
    "hearth_agents_observation_limits": (c_int, [_P, c_uint32, POINTER(c_float), POINTER(c_float)]),
    "hearth_agents_observation_name": (c_char_p, [_P, c_uint32]),
    "hearth_agents_observation_size": (c_uint32, [_P]),
    "hearth_agents_action_size": (c_uint32, [_P]),
    "hearth_agents_observation": (POINTER(c_float), [_P, Agent]),
    "hearth_agents_action": (POINTER(c_float), [_P, Agent]),
    "hearth_agents_add_reward": (c_int, [_P, Agent, c_float]),
    "hearth_agents_end_episode": (c_int, [_P, Agent, c_int, POINTER(c_float), POINTER(c_float)]),
    "hearth_agents_poll": (None, [_P]),
    "hearth_agents_record": (c_int, [_P, POINTER(AgentsRecordInfo)]),
    "hearth_agents_set_hyperparameter": (c_int, [_P, c_char_p, c_double]),
    "hearth_agents_shrink_and_perturb": (c_int, [_P, c_double]),
    "hearth_agents_finish_update": (None, [_P]),
    "hearth_agents_freeze": (None, [_P, c_uint32]),
    "hearth_agents_take_snapshot": (c_int, [_P]),
    "hearth_agents_snapshot_count": (c_uint32, [_P]),
    "hearth_agents_load_snapshot": (c_int, [_P, _P, c_uint32]),
    "hearth_agents_reset_brain": (None, [_P]),
    "hearth_agents_save": (c_int, [_P, c_uint32, _P, POINTER(c_uint64)]),
    "hearth_agents_save_weights": (c_int, [_P, c_uint32, _P, POINTER(c_uint64)]),
    "hearth_agents_save_game": (c_int, [_P]),
    "hearth_agents_get_saved_game": (c_int, [_P, _P, POINTER(c_uint64)]),
    "hearth_agents_add_demonstration_from": (c_int, [_P, Agent, POINTER(c_float), c_uint32]),
    "hearth_agents_report_score": (c_int, [_P, c_float]),
    "hearth_agents_load": (c_int, [_P, _P, c_uint64, POINTER(Messages)]),
    "hearth_agents_get_status": (c_int, [_P, POINTER(AgentsStatus)]),
    "hearth_agents_metric_name": (c_char_p, [c_uint32]),
    "hearth_agents_counter_name": (c_char_p, [c_uint32]),
    # hearth_workbench.h
    "hearth_headless_devices": (c_int, [POINTER(c_char * 256), POINTER(c_uint32), POINTER(Messages)]),
    "hearth_headless_create": (c_int, [c_char_p, c_uint32, POINTER(_P), POINTER(Messages)]),
    "hearth_headless_destroy": (c_int, [_P]),
    "hearth_headless_context": (_P, [_P]),
    "hearth_headless_load_package": (c_int, [_P, _P, c_uint64, c_char_p, c_uint32, POINTER(_P)]),
    "hearth_headless_device": (c_char_p, [_P]),
    "hearth_headless_messages": (c_uint32, [_P]),
    "hearth_headless_error": (c_char_p, [_P]),
    "hearth_headless_begin": (c_int, [_P, POINTER(_P)]),
    "hearth_headless_submit": (c_int, [_P]),
    "hearth_headless_discard": (c_int, [_P]),
    "hearth_headless_buffer_create": (c_int, [_P, c_uint64, c_int, POINTER(HeadlessBuffer)]),
    "hearth_headless_buffer_destroy": (None, [_P, POINTER(HeadlessBuffer)]),
    "hearth_blob_data": (_P, [_P]),
    "hearth_blob_bytes": (c_uint64, [_P]),
    "hearth_blob_destroy": (None, [_P]),
    "hearth_cook_onnx": (c_int, [c_char_p, c_uint64, c_char_p, _P, POINTER(_P), POINTER(Messages)]),
    "hearth_export_onnx": (c_int, [c_char_p, c_uint64, c_char_p, c_char_p, c_uint64, POINTER(_P), POINTER(Messages)]),
    "hearth_cook_package": (c_int, [c_char_p, c_uint64, c_char_p, _P, POINTER(_P), POINTER(Messages)]),
    "hearth_cook_package_with_weights": (c_int, [c_char_p, c_uint64, c_char_p, c_char_p, c_uint64, _P, POINTER(_P),
                                                 POINTER(Messages)]),
    "hearth_cook_agents": (c_int, [c_char_p, _P, POINTER(_P), POINTER(Messages)]),
}

_loaded: ctypes.CDLL | None = None


def lib() -> ctypes.CDLL:
    """Returns the library, which the first call opens: importing the package does not."""
    global _loaded
    if _loaded is None:
        path = _find()
        library = ctypes.CDLL(path)
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        if library.hearth_check_version(VERSION) != 0:
            expected = f"{VERSION >> 22}.{VERSION >> 12 & 0x3FF}"
            raise HearthError(f"{path} is {library.hearth_build_info().decode()}, expected version {expected}", -5,
                              "HEARTH_ERROR_VERSION_MISMATCH")
        _loaded = library
    return _loaded


def error(code: int, message: bytes | str) -> HearthError:
    """Creates the exception for a result and the library's message."""
    name = lib().hearth_result_name(code).decode()
    text = message.decode(errors="replace") if isinstance(message, bytes) else message
    return HearthError(f"{text} ({name})" if text else name, code, name)


def check(code: int, message: Any) -> int:
    """Raises HearthError if a call failed; message: text, or a function that returns it.  Returns the code."""
    if code < 0:
        raise error(code, message() if callable(message) else message)
    return code
