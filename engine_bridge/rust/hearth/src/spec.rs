// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Observations and actions of agents, as types.
//!
//! ```
//! use hearth::{Action, Observation};
//!
//! #[derive(Observation)]
//! struct Sees {
//!     #[hearth(low = 0.0, high = 30.0)]
//!     speed: f32, // a box of one value
//!     rays: [f32; 8], // a box from -1 to 1
//!     #[hearth(kind = "position", scale = 50.0)]
//!     goal: [f32; 2],
//!     armed: bool,
//!     #[hearth(n = 3)]
//!     weapon: u32, // an index
//! }
//!
//! #[derive(Action)]
//! enum Turn {
//!     Left,
//!     Right,
//! }
//!
//! #[derive(Action)]
//! struct Does {
//!     turn: Turn,
//!     #[hearth(low = 0.0, high = 1.0)]
//!     thrust: [f32; 2],
//! }
//! assert_eq!((Sees::SIZE, Does::SIZE), (13, 3));
//! # let _ = |d: Does, s: Sees| (d.thrust, s.speed, s.rays, s.goal, s.armed, s.weapon);
//! ```
//!
//! `#[hearth(...)]` passes options of `hearth_cook_agents` (`hearth_workbench.h`) on: `kind`, and
//! those of the kind.  A value of another kind does not compile:
//!
//! ```compile_fail
//! #[derive(hearth::Observation)]
//! struct Sees {
//!     name: String,
//! }
//! ```

/// Values that an agent decides by; derive it.
pub trait Observation {
    /// Number of floats.
    const SIZE: usize;
    /// The fields as JSON, for `hearth_cook_agents`.
    fn fields() -> String;
    /// Writes the [`Observation::SIZE`] floats.
    fn write(&self, to: &mut [f32]);
}

/// The decision of an agent; derive it.
pub trait Action: Sized {
    /// Number of floats.
    const SIZE: usize;
    /// The fields as JSON, for `hearth_cook_agents`.
    fn fields() -> String;
    fn read(from: &[f32]) -> Self;
}

/// Types of the fields of an [`Observation`].
pub trait ObservationField {
    const SIZE: usize;
    fn field(name: &str, kind: Option<&str>, options: &str) -> String;
    fn write(&self, to: &mut [f32]);
}

/// Types of the fields of an [`Action`].
pub trait ActionField {
    const SIZE: usize;
    fn field(name: &str, kind: Option<&str>, options: &str) -> String;
    fn read(from: &[f32]) -> Self;
}

fn json(name: &str, kind: &str, options: &str) -> String {
    let name = name.trim_start_matches("r#");
    format!("{{\"name\": \"{name}\", \"kind\": \"{kind}\"{options}}}")
}

/// The options of a field of `size` floats, by its kind.
fn floats(name: &str, kind: &str, size: usize, options: &str) -> String {
    let extent = match kind {
        "position" | "unit_vector" => format!(", \"dims\": {size}"),
        "angle" | "quaternion" => String::new(),
        _ => format!(", \"size\": {size}"),
    };
    json(name, kind, &(extent + options))
}

#[doc(hidden)]
pub fn discrete(name: &str, n: usize, options: &str) -> String {
    json(name, "discrete", &format!(", \"n\": {n}{options}"))
}

impl ObservationField for f32 {
    const SIZE: usize = 1;
    fn field(name: &str, kind: Option<&str>, options: &str) -> String {
        floats(name, kind.unwrap_or("box"), 1, options)
    }
    fn write(&self, to: &mut [f32]) {
        to[0] = *self;
    }
}

impl<const N: usize> ObservationField for [f32; N] {
    const SIZE: usize = N;
    fn field(name: &str, kind: Option<&str>, options: &str) -> String {
        floats(name, kind.unwrap_or("box"), N, options)
    }
    fn write(&self, to: &mut [f32]) {
        to.copy_from_slice(self);
    }
}

impl ObservationField for bool {
    const SIZE: usize = 1;
    fn field(name: &str, kind: Option<&str>, options: &str) -> String {
        json(name, kind.unwrap_or("binary"), options)
    }
    fn write(&self, to: &mut [f32]) {
        to[0] = f32::from(u8::from(*self));
    }
}

/// An index, with `#[hearth(n = COUNT)]`.
impl ObservationField for u32 {
    const SIZE: usize = 1;
    fn field(name: &str, kind: Option<&str>, options: &str) -> String {
        json(name, kind.unwrap_or("discrete"), options)
    }
    fn write(&self, to: &mut [f32]) {
        to[0] = *self as f32;
    }
}

/// Fields with a common path prefix.
impl<T: Observation> ObservationField for T {
    const SIZE: usize = T::SIZE;
    fn field(name: &str, kind: Option<&str>, options: &str) -> String {
        let fields = T::fields();
        json(
            name,
            kind.unwrap_or("dict"),
            &format!(", \"fields\": {fields}{options}"),
        )
    }
    fn write(&self, to: &mut [f32]) {
        Observation::write(self, to);
    }
}

/// Up to `N` things in any order, such as the enemies in sight; more are left out.
#[derive(Debug, Clone, Default)]
pub struct Entities<T, const N: usize>(pub Vec<T>);

impl<T: Observation, const N: usize> ObservationField for Entities<T, N> {
    const SIZE: usize = 1 + N * T::SIZE;
    fn field(name: &str, kind: Option<&str>, options: &str) -> String {
        let fields = T::fields();
        json(
            name,
            kind.unwrap_or("entities"),
            &format!(", \"max_count\": {N}, \"fields\": {fields}{options}"),
        )
    }
    fn write(&self, to: &mut [f32]) {
        to.fill(0.0);
        to[0] = self.0.len().min(N) as f32;
        for (entity, part) in self.0.iter().zip(to[1..].chunks_exact_mut(T::SIZE)) {
            Observation::write(entity, part);
        }
    }
}

impl ActionField for f32 {
    const SIZE: usize = 1;
    fn field(name: &str, kind: Option<&str>, options: &str) -> String {
        floats(name, kind.unwrap_or("continuous"), 1, options)
    }
    fn read(from: &[f32]) -> Self {
        from[0]
    }
}

impl<const N: usize> ActionField for [f32; N] {
    const SIZE: usize = N;
    fn field(name: &str, kind: Option<&str>, options: &str) -> String {
        floats(name, kind.unwrap_or("continuous"), N, options)
    }
    fn read(from: &[f32]) -> Self {
        std::array::from_fn(|i| from[i])
    }
}

/// An option, with `#[hearth(n = COUNT)]`.
impl ActionField for u32 {
    const SIZE: usize = 1;
    fn field(name: &str, kind: Option<&str>, options: &str) -> String {
        json(name, kind.unwrap_or("discrete"), options)
    }
    fn read(from: &[f32]) -> Self {
        from[0] as u32
    }
}

impl ActionField for bool {
    const SIZE: usize = 1;
    fn field(name: &str, _: Option<&str>, options: &str) -> String {
        discrete(name, 2, options)
    }
    fn read(from: &[f32]) -> Self {
        from[0] != 0.0
    }
}
