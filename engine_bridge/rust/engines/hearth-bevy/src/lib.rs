// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Agents that learn and networks that run on Bevy's Vulkan device, for Bevy 0.19.
//!
//! [`HearthPlugin`] comes before Bevy's own plugins, because it has a say in the creation of the
//! device.  [`AgentsPlugin`] lets entities with the component [`Agent`] learn; the resource
//! [`Hearth`] is for networks:
//!
//! ```no_run
//! use bevy::prelude::*;
//! use hearth::{Action, AgentsConfig, EpisodeEnd, Observation};
//! use hearth_bevy::{Agent, AgentsPlugin, HearthPlugin};
//!
//! #[derive(Observation, Clone)]
//! struct Sees {
//!     side: f32,
//! }
//! #[derive(Action)]
//! enum Go {
//!     Left,
//!     Right,
//! }
//!
//! fn play(mut agents: Query<&mut Agent<Sees, Go>>, mut right: Local<bool>) {
//!     for mut agent in &mut agents {
//!         let Some(go) = agent.decision() else { continue };
//!         agent.reward(if matches!(go, Go::Right) == *right { 1.0 } else { 0.0 });
//!         agent.end_episode(EpisodeEnd::Terminated);
//!         *right = !*right;
//!         agent.observe(Sees { side: if *right { 1.0 } else { -1.0 } });
//!     }
//! }
//!
//! App::new()
//!     .add_plugins((HearthPlugin::default(), DefaultPlugins))
//!     .add_plugins(AgentsPlugin::<Sees, Go>::new(AgentsConfig::ppo(16)))
//!     .add_systems(Startup, |mut commands: Commands| {
//!         commands.spawn(Agent::<Sees, Go>::new(Sees { side: -1.0 }));
//!     })
//!     .add_systems(Update, play)
//!     .run();
//! ```

mod agents;

use std::sync::{Arc, Mutex};

use bevy_app::{App, Plugin};
use bevy_ecs::resource::Resource;
use bevy_render::renderer::raw_vulkan_init::{AdditionalVulkanFeatures, RawVulkanInitSettings};
use bevy_render::renderer::{RenderAdapter, RenderDevice, RenderQueue};
use hearth_wgpu::v29::{Context, Setup};

pub use agents::{Agent, AgentsPlugin, Brain, HearthSystems};
pub use hearth_wgpu::v29 as wgpu;

/// Hearth on Bevy's device, from `Startup` on.  It keeps the device alive: Bevy drops its own
/// handles in any order.
#[derive(Resource, Clone)]
pub struct Hearth(Context);

impl std::ops::Deref for Hearth {
    type Target = Context;
    fn deref(&self) -> &Context {
        &self.0
    }
}

/// Marks a device with what Hearth needs among [`AdditionalVulkanFeatures`].
pub struct HearthFeatures;

/// Adds the resource [`Hearth`].  Add it before `DefaultPlugins`.
#[derive(Default)]
pub struct HearthPlugin {
    /// Kernels take push descriptors although the device has buffer addresses.
    pub with_descriptors: bool,
}

#[derive(Resource, Clone, Default)]
struct Creation {
    setup: Setup,
    error: Arc<Mutex<Option<hearth::Error>>>,
}

impl Plugin for HearthPlugin {
    fn build(&self, app: &mut App) {
        assert!(
            !app.is_plugin_added::<bevy_render::RenderPlugin>(),
            "HearthPlugin comes too late for the device: add it before DefaultPlugins"
        );
        let creation = Creation {
            setup: if self.with_descriptors {
                Setup::with_descriptors()
            } else {
                Setup::new()
            },
            ..Creation::default()
        };
        app.insert_resource(creation.clone());
        let mut settings = app
            .world_mut()
            .get_resource_or_init::<RawVulkanInitSettings>();
        // SAFETY: the setup enables only what the device supports, and removes nothing.
        unsafe {
            settings.add_create_device_callback(
                move |args, adapter, features: &mut AdditionalVulkanFeatures| match creation
                    .setup
                    .add(args, adapter)
                {
                    Ok(()) => features.insert::<HearthFeatures>(),
                    Err(error) => *creation.error.lock().unwrap() = Some(error),
                },
            );
        }
    }

    fn cleanup(&self, app: &mut App) {
        let world = app.world_mut();
        let Some(Creation { setup, error }) = world.remove_resource() else {
            return;
        };
        let adopted = match (
            error.lock().unwrap().take(),
            world.get_resource::<RenderAdapter>(),
            world.get_resource::<RenderDevice>(),
            world.get_resource::<RenderQueue>(),
        ) {
            (Some(error), ..) => Err(error),
            (_, Some(adapter), Some(device), Some(queue)) => {
                setup.adopt(adapter, device.wgpu_device(), queue)
            }
            _ => Err(hearth::Error {
                code: hearth::sys::HEARTH_ERROR_INVALID_STATE,
                message: "Bevy has no renderer; add RenderPlugin, or use hearth::Device".into(),
            }),
        };
        match adopted {
            Ok(context) => world.insert_resource(Hearth(context)),
            Err(error) => log::error!("Hearth cannot use Bevy's device: {error}"),
        }
    }
}
