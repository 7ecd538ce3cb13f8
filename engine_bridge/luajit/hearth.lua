-- SPDX-FileCopyrightText: 2026 The Hearth Authors
-- SPDX-License-Identifier: MIT OR Apache-2.0

-- Hearth's C interface in LuaJIT: functions, structs and constants word for word as in hearth.h.
--
--     local hearth = require("hearth")
--     local lib = hearth.load("libhearth_runtime.so")
--     local info = hearth.new("hearth_session_create_info", {program = program})
--     hearth.check(lib.hearth_session_create(context, info, out), "session", lib.hearth_context_error(context))
--
-- What hearth.h says of threads, order and lifetime holds here.  LuaJIT collects what Lua no longer holds: keep
-- arrays, and structs that others point to, in a variable as long as Hearth may read them.  Handles are not
-- collected: destroy them.

local ffi = require("ffi")
local generated = require("hearth_cdef") -- made by make_cdef.py

ffi.cdef(generated.cdef)

local M = {constants = generated.constants}
local lib

-- The shared library; checks that it is of the version that the declarations are of.
function M.load(path)
    lib = ffi.load(path)
    local c = M.constants
    local version = c.HEARTH_VERSION_MAJOR * 2 ^ 22 + c.HEARTH_VERSION_MINOR * 2 ^ 12 + c.HEARTH_VERSION_PATCH
    M.check(lib.hearth_check_version(version), path)
    return lib
end

-- A struct with its defaults, as hearth.h's NAME_default() makes it, and these fields.
function M.new(name, fields)
    local defaults = generated.defaults[name]
    if not defaults then error("hearth: no defaults for " .. name, 2) end
    local value = ffi.new(name)
    value.size = ffi.sizeof(name)
    for _, default in ipairs(defaults) do
        local at, field = value, default[1]
        for outer, inner in field:gmatch("(%w+)%.([%w_]+)") do at, field = value[outer], inner end
        at[field] = default[2]
    end
    for field, content in pairs(fields or {}) do value[field] = content end
    return value
end

-- An error with the result's name for what failed, `detail` being the sentence of the object's ..._error(); else the
-- result, as a number.
function M.check(result, what, detail)
    result = tonumber(result)
    if result >= 0 then return result end
    local text = what .. ": " .. ffi.string(lib.hearth_result_name(result))
    if detail ~= nil and ffi.string(detail) ~= "" then text = text .. ": " .. ffi.string(detail) end
    error("hearth: " .. text, 2)
end

return M
