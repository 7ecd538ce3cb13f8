// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Matrices that a subgroup holds together: f16 operands, f32 sums (DeviceCaps::matrix_cores).  Where
// HEARTH_MATRIX_WORKGROUP is defined, a workgroup does (DeviceCaps::workgroup_matrices); all its
// invocations call together, then.
//
//   hearth_matrix_m, _n, _k            sizes of one product; 16, 16, 16 on most devices
//   hearth_matrix_a                    left operand, f16, [m, k]
//   hearth_matrix_b                    right operand, f16, [k, n]
//   hearth_matrix_sum                  sums, f32, [m, n]
//   hearth_matrix_half                 sums rounded to f16, by hearth_matrix_half(sum)
//   hearth_matrix_load(m, array, first, stride, by_columns)
//   hearth_matrix_store(m, array, first, stride, by_columns)
//   hearth_multiply_add(a, b, sum)     a b + sum
//
// `first` and `stride` count elements of `array`, in a buffer or shared; in steps of 16 bytes.
// by_columns is a constant: neighbours in memory are neighbours in a column.  All invocations of the
// subgroup call together.  m[i], i < m.length(), is an element of this invocation's, of a place that
// only the driver knows.
//
// The text is the NV dialect, as old compilers know no other.  Where HEARTH_MATRIX_KHR is defined
// the scope of each kind of matrix is a constant of its own, by which
// compiler/codegen/khr_matrices.cpp tells the kinds apart.

#ifdef HEARTH_MATRIX_KHR
#ifdef HEARTH_MATRIX_WORKGROUP
#define hearth_scope 2  // gl_ScopeWorkgroup
#else
#define hearth_scope 3  // gl_ScopeSubgroup
#endif
layout(constant_id = 2000) const int hearth_scope_a = hearth_scope;
layout(constant_id = 2001) const int hearth_scope_b = hearth_scope;
layout(constant_id = 2002) const int hearth_scope_sum = hearth_scope;
#else
#define hearth_scope_a gl_ScopeSubgroup
#define hearth_scope_b gl_ScopeSubgroup
#define hearth_scope_sum gl_ScopeSubgroup
#endif

#define hearth_matrix_a fcoopmatNV<16, hearth_scope_a, hearth_matrix_m, hearth_matrix_k>
#define hearth_matrix_b fcoopmatNV<16, hearth_scope_b, hearth_matrix_k, hearth_matrix_n>
#define hearth_matrix_sum fcoopmatNV<32, hearth_scope_sum, hearth_matrix_m, hearth_matrix_n>
#define hearth_matrix_half fcoopmatNV<16, hearth_scope_sum, hearth_matrix_m, hearth_matrix_n>
#define hearth_matrix_load(m, array, first, stride, by_columns) \
    coopMatLoadNV(m, array, first, stride, by_columns)
#define hearth_matrix_store(m, array, first, stride, by_columns) \
    coopMatStoreNV(m, array, first, stride, by_columns)
#define hearth_multiply_add(a, b, sum) coopMatMulAddNV(a, b, sum)
