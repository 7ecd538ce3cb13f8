-- SPDX-FileCopyrightText: 2026 The Hearth Authors
-- SPDX-License-Identifier: MIT OR Apache-2.0

-- add_requires("hearth", {configs = {compiler = true}}) after includes("path/to/sdk/packaging/xmake"): builds the checkout
-- that this file lies in, with CMake.
package("hearth")
    set_description("Neural networks inside games: inference and learning on the game's own Vulkan device")
    set_license("MIT OR Apache-2.0")
    set_version("0.2.0")
    set_sourcedir(path.join(os.scriptdir(), "..", "..", ".."))

    add_configs("compiler", {description = "Tracing, gradients, learners and code generation.", default = false, type = "boolean"})
    add_configs("import", {description = "ONNX models; needs the compiler.", default = false, type = "boolean"})
    add_configs("agents", {description = "The driver of agents, and their learners.", default = true, type = "boolean"})

    add_deps("cmake", "vulkan-headers")
    on_load(function (package)
        if package:config("import") then
            package:config_set("compiler", true)
            package:add("deps", "onnx", "protobuf-cpp")
            package:add("links", "hearth_import")
        end
        if package:config("compiler") then
            package:add("deps", "glslang", "libpng")
            package:add("links", "hearth_compiler")
        end
        package:add("links", "hearth_runtime")
        if package:is_plat("linux") then
            package:add("syslinks", "stdc++", "m", "pthread")
        end
    end)

    on_install("linux", function (package)
        local configs = {"-DHEARTH_TOOLS=OFF", "-DHEARTH_TESTS=OFF", "-DHEARTH_DEMOS=OFF", "-DHEARTH_PERF=OFF",
                         "-DHEARTH_WORKBENCH=OFF", "-DHEARTH_WERROR=OFF"}
        table.insert(configs, "-DCMAKE_BUILD_TYPE=" .. (package:is_debug() and "Debug" or "Release"))
        for _, name in ipairs({"compiler", "import", "agents"}) do
            table.insert(configs, "-DHEARTH_" .. name:upper() .. "=" .. (package:config(name) and "ON" or "OFF"))
        end
        import("package.tools.cmake").install(package, configs)
    end)

    on_test(function (package)
        assert(package:has_cfuncs("hearth_version", {includes = "hearth/hearth.h"}))
    end)
package_end()
