// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Neural networks that run and learn inside a game.
//!
//! A [`Device`] is this machine's GPU or CPU, or a game's own Vulkan device (`hearth-wgpu`,
//! `hearth-bevy`).  A [`Model`] is a network, [`Agents`] learn to act:
//!
//! ```no_run
//! # fn main() -> hearth::Result<()> {
//! let device = hearth::Device::new("")?;
//! let mut model = device.load(&std::fs::read("line.hearth").unwrap())?;
//! let outputs = model.run("learn", &[("x", &[0.5]), ("target", &[1.0])], 1)?;
//! println!("loss {}", outputs["loss"][0]);
//! std::fs::write("line.brain", model.save()?).unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! ```no_run
//! use hearth::{Action, AgentsConfig, Device, EpisodeEnd, Observation, Step};
//!
//! #[derive(Observation)]
//! struct Sees {
//!     side: f32,
//! }
//! #[derive(Action)]
//! enum Go {
//!     Left,
//!     Right,
//! }
//!
//! # fn main() -> hearth::Result<()> {
//! let mut agents = Device::new("")?.agents::<Sees, Go>(&AgentsConfig::ppo(1))?;
//! let agent = agents.add()?;
//! for frame in 0..1000 {
//!     let side = if frame % 3 == 0 { -1.0 } else { 1.0 };
//!     agents.observe(agent, &Sees { side })?;
//!     agents.step(&Step::default())?;
//!     let is_right = match agents.action(agent) {
//!         Some(Go::Left) => side < 0.0,
//!         Some(Go::Right) => side > 0.0,
//!         None => continue,
//!     };
//!     agents.reward(agent, if is_right { 1.0 } else { 0.0 })?;
//!     agents.end_episode(agent, EpisodeEnd::Terminated, None)?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`sys`] is the interface as it is in C, for what is missing here.

mod agents;
mod device;
mod error;
mod image;
mod model;
pub mod spec;

pub use agents::{Agent, Agents, AgentsConfig, EpisodeEnd, Snapshot, Status, Step};
pub use device::{Device, Frame, Owner};
pub use error::{Error, Result};
pub use hearth_derive::{Action, Observation};
pub use hearth_sys as sys;
pub use image::ImageConverter;
pub use model::{Binding, Buffer, Model, PendingSave, Value};
pub use spec::{Action, ActionField, Entities, Observation, ObservationField};
