-- SPDX-FileCopyrightText: 2026 The Hearth Authors
-- SPDX-License-Identifier: MIT OR Apache-2.0

-- Runs an entry of a program once and prints its outputs: luajit sample.lua LIBHEARTH PROGRAM ENTRY [BATCH_SIZE]
--
-- A game passes its own device and command buffer; this sample has none, so the headless application of
-- hearth_workbench.h creates them.  Inputs are 0.01, 0.02, ...

local ffi = require("ffi")
local hearth = require("hearth")

local path, program_path, entry_name, batch_size = arg[1], arg[2], arg[3], tonumber(arg[4] or 1)
local lib = hearth.load(path)
local messages = ffi.new("hearth_messages")

local function created(kind) return ffi.new(kind .. "*[1]") end

-- The device, its context, the program and a session of it.
local host_out = created("hearth_headless")
hearth.check(lib.hearth_headless_create(nil, 0, host_out, messages), "device", messages.text)
local host = host_out[0]
local context = lib.hearth_headless_context(host)

local file = assert(io.open(program_path, "rb"))
local bytes = file:read("*a")
file:close()
local program_out = created("hearth_program")
hearth.check(lib.hearth_program_load(context, hearth.new("hearth_program_load_info",
    {bytes = ffi.cast("const char*", bytes), byte_count = #bytes}), program_out), program_path,
    lib.hearth_context_error(context))
local program = program_out[0]
local session_out = created("hearth_session")
hearth.check(lib.hearth_session_create(context, hearth.new("hearth_session_create_info", {program = program}),
    session_out), "session", lib.hearth_context_error(context))
local session = session_out[0]
local function ok(result, what) return hearth.check(result, what, lib.hearth_session_error(session)) end
ok(lib.hearth_session_create_pipelines(session, 0), "pipelines")

-- Creates a buffer for each binding of the entry.
local index = ffi.new("uint32_t[1]")
hearth.check(lib.hearth_program_find_entry(program, entry_name, index), "entry", lib.hearth_program_error(program))
local entry = hearth.new("hearth_entry_info")
hearth.check(lib.hearth_program_get_entry(program, index[0], entry), "entry")
local bindings = ffi.new("hearth_tensor_binding[?]", entry.binding_count)
local outputs = {}
for i = 0, entry.binding_count - 1 do
    local info = hearth.new("hearth_binding_info")
    hearth.check(lib.hearth_program_get_binding(program, entry.bindings[i], info), "binding")
    local size = tonumber(info.bytes_fixed) + tonumber(info.bytes_per_item) * batch_size
    local buffer = ffi.new("hearth_headless_buffer")
    hearth.check(lib.hearth_headless_buffer_create(host, math.max(size, 16), 1, buffer), "buffer")
    local values = ffi.cast("float*", buffer.data)
    if info.is_output == 0 then
        for k = 0, size / 4 - 1 do values[k] = 0.01 * (k + 1) end
    else
        outputs[#outputs + 1] = {name = ffi.string(info.name), values = values, count = size / 4}
    end
    local b = bindings[i]
    b.binding, b.buffer, b.bytes, b.usage = entry.bindings[i], buffer.buffer, size, buffer.usage
    b.acquire_scope.queue_family = hearth.constants.HEARTH_QUEUE_FAMILY_SAME
    b.release_scope.queue_family = hearth.constants.HEARTH_QUEUE_FAMILY_SAME
    b.release_scope.stages, b.release_scope.access = 0x4000, 0x2000 -- VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT
end

-- One frame.
local commands = ffi.new("VkCommandBuffer[1]")
hearth.check(lib.hearth_headless_begin(host, commands), "begin", lib.hearth_headless_error(host))
ok(lib.hearth_record_initialize(session, commands[0]), "initialize")
ok(lib.hearth_record(session, hearth.new("hearth_record_info", {command_buffer = commands[0], entry = index[0],
    bindings = bindings, binding_count = entry.binding_count, batch_size = batch_size}), nil), "record")
hearth.check(lib.hearth_headless_submit(host), "submit", lib.hearth_headless_error(host))

for _, output in ipairs(outputs) do
    local texts = {}
    for k = 0, math.min(output.count, 8) - 1 do texts[#texts + 1] = ("%g"):format(output.values[k]) end
    print(output.name .. ": " .. table.concat(texts, " ") .. (output.count > 8 and " ..." or ""))
end
lib.hearth_session_destroy(session)
lib.hearth_program_destroy(program)
hearth.check(lib.hearth_headless_destroy(host), "destroy")
