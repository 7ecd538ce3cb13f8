-- SPDX-FileCopyrightText: 2026 The Hearth Authors
-- SPDX-License-Identifier: MIT OR Apache-2.0

-- Hearth's C interface in LuaJIT: functions, structs and constants with the names of hearth.h.
--
--     local hearth = require("hearth")
--     local lib = hearth.load("libhearth_runtime.so")
--     local info = hearth.new("hearth_session_create_info", {program = program})
--     hearth.check(lib.hearth_session_create(context, info, out), "session", lib.hearth_context_error(context))
--
-- The rules of hearth.h about threads, order and lifetime apply.  LuaJIT collects what Lua no longer references: keep
-- arrays, and structs that others point to, in a variable as long as Hearth may read them.  Handles are not
-- collected: destroy them.

local ffi = require("ffi")
local generated = require("hearth_cdef") -- generated from the headers

ffi.cdef(generated.cdef)

local M = {constants = generated.constants}
local lib

-- Loads the shared library and checks that its version is that of the declarations.
function M.load(path)
    lib = ffi.load(path)
    M.check(lib.hearth_check_version(M.constants.HEARTH_VERSION), path)
    return lib
end

-- Returns a struct with its defaults, those of NAME_default() in hearth.h, and these fields.  Call load first.
function M.new(name, fields)
    local value = lib[name .. "_default"]()
    for field, content in pairs(fields or {}) do value[field] = content end
    return value
end

-- Returns the result as a number, or raises an error for a failed call: `what` failed, the result's name and `detail`,
-- the message of the object's ..._error().
function M.check(result, what, detail)
    result = tonumber(result)
    if result >= 0 then return result end
    local text = what .. ": " .. ffi.string(lib.hearth_result_name(result))
    if detail ~= nil and ffi.string(detail) ~= "" then text = text .. ": " .. ffi.string(detail) end
    error("hearth: " .. text, 2)
end

return M
