// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use std::ffi::{c_char, CStr, CString};
use std::fmt;

use crate::sys;

/// A failed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// `HEARTH_ERROR_...` of [`sys`].
    pub code: sys::hearth_result,
    /// What was expected, what was found and what to do.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the names are static.
        let name = unsafe { text_of(sys::hearth_result_name(self.code)) };
        write!(f, "{} ({name})", self.message)
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

/// # Safety
/// `text` is null or a string that lives during the call.
pub(crate) unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    CStr::from_ptr(text).to_string_lossy().into_owned()
}

pub(crate) fn fail<T>(code: sys::hearth_result, message: impl Into<String>) -> Result<T> {
    Err(Error {
        code,
        message: message.into(),
    })
}

/// # Safety
/// `message` returns null or a string that lives during the call.
pub(crate) unsafe fn check(
    code: sys::hearth_result,
    message: impl FnOnce() -> *const c_char,
) -> Result<()> {
    if code >= 0 {
        return Ok(());
    }
    fail(code, text_of(message()))
}

/// The error of a call that fills `messages`.
pub(crate) fn check_messages(
    code: sys::hearth_result,
    messages: &sys::hearth_messages,
) -> Result<()> {
    // SAFETY: the text ends with a zero.
    unsafe { check(code, || messages.text.as_ptr()) }
}

pub(crate) fn c_string(text: &str) -> Result<CString> {
    CString::new(text).or_else(|_| {
        fail(
            sys::HEARTH_ERROR_INVALID_ARGUMENT,
            format!("{text:?} contains a zero, expected none"),
        )
    })
}

/// Copies bytes to the alignment of 8 bytes that packages and brains need.
pub(crate) fn aligned(bytes: &[u8]) -> Vec<u64> {
    bytes
        .chunks(8)
        .map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        })
        .collect()
}
