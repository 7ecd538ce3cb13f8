// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A JSON object of options: values are read by name, and keys that were never read are an error.

#pragma once

#include <hearth/status.hpp>

#include <nlohmann/json.hpp>
#include <programs/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::workbench {

using Json = nlohmann::json;

class Options {
  public:
    /// An empty text is an empty object.
    /// Errors: kInvalidArgument for anything but a JSON object.
    static Result<Options> parse(const char* text);
    Options(Json object, std::string path) : object_(std::move(object)), path_(std::move(path)) {
        if (!object_.is_object()) fail("expected an object, found " + programs::describe(object_));
    }

    bool has(const char* key) const { return object_.contains(key); }
    // Each returns the value, or `fallback` if absent; the first error is kept.
    std::string text(const char* key, std::string fallback,
                     std::initializer_list<std::string_view> allowed = {});
    double number(const char* key, double fallback);
    int64_t whole(const char* key, int64_t fallback, int64_t min, int64_t max);
    bool flag(const char* key, bool fallback);
    std::vector<int64_t> wholes(const char* key, std::vector<int64_t> fallback, int64_t min,
                                int64_t max);
    std::vector<std::string> texts(const char* key, std::vector<std::string> fallback);
    /// Returns the object at `key`, or an empty one.
    Options object(const char* key);
    /// Returns the objects of the list at `key`.
    std::vector<Options> objects(const char* key);
    /// Returns the value of any type; null if absent.
    Json any(const char* key);

    void fail(std::string what);
    /// Errors: the first one; a key that was never read, naming the known ones.
    Status finish();
    const std::string& path() const { return path_; }

  private:
    const Json* take(const char* key);
    std::string at(const char* key) const { return path_.empty() ? key : path_ + "." + key; }

    Json object_;
    std::string path_;
    std::vector<std::string> known_;
    Status status_;
};

}  // namespace hearth::workbench
