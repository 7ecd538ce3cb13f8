// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/kernel/function_writer.hpp"

namespace hearth {

Expr FunctionWriter::note(Expr parameter) {
    function_.parameters.push_back(parameter.id);
    return parameter;
}

Expr FunctionWriter::add_parameter(std::string name, ScalarType type) {
    return note(body_.new_local(std::move(name), LocalKind::kParameter, type));
}

Expr FunctionWriter::add_result(std::string name, ScalarType type) {
    return note(body_.new_local(std::move(name), LocalKind::kResult, type));
}

Scalar FunctionWriter::add_variable(std::string name, ScalarType type) {
    const Scalar variable = arena_.symbol(type);
    bind_parameter(std::move(name), variable);
    return variable;
}

void FunctionWriter::bind_parameter(std::string name, Scalar variable) {
    writer.bind(variable, add_parameter(std::move(name), variable.type()));
}

uint32_t FunctionWriter::finish() {
    function_.statements = writer.take();
    body_.functions.push_back(std::move(function_));
    return static_cast<uint32_t>(body_.functions.size() - 1);
}

uint32_t FunctionWriter::finish_with(Expr result) {
    writer.leave(result);
    function_.has_result = true;
    function_.result = result.type();
    function_.result_chunk = result.chunk();
    return finish();
}

}  // namespace hearth
