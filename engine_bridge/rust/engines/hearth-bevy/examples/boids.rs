// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Boids that learn to flock, while the game runs: rewarded for company, for flying as their
//! neighbours do, and for keeping a distance.  `boids FRAMES PICTURE.png` ends after so many
//! frames with a picture.

#![forbid(unsafe_code)]

use bevy::prelude::*;
use bevy::render::view::screenshot::{save_to_disk, Screenshot};
use hearth::{Action, AgentsConfig, EpisodeEnd, Observation, Step};
use hearth_bevy::{Agent, AgentsPlugin, Brain, HearthPlugin};

const BOIDS: u32 = 48;
const ARENA: Vec2 = Vec2::new(640.0, 360.0); // half of its size
const SIGHT: f32 = 120.0;
const TOO_CLOSE: f32 = 20.0;
const SPEED: f32 = 4.0;
const EPISODE: u32 = 200;

/// In the boid's own frame: x is ahead.
#[derive(Observation, Default)]
struct Sees {
    center: [f32; 2],
    heading: [f32; 2],
    nearest: [f32; 2],
    #[hearth(low = 0.0, high = 1.0)]
    company: f32,
}

#[derive(Action)]
struct Steers {
    turn: f32,
}

type Bird = Agent<Sees, Steers>;

#[derive(Component)]
struct Boid {
    turn: f32,
    heading: f32,
    age: u32,
}

#[derive(Resource)]
struct Run {
    frames: u32,
    picture: String,
    frame: u32,
    company: f32,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let frames = arguments
        .next()
        .map_or(u32::MAX, |n| n.parse().expect("a number of frames"));
    let config = AgentsConfig::ppo(BOIDS)
        .set("n_steps", 64.0)
        .set("gamma", 0.95);
    App::new()
        .add_plugins((HearthPlugin::default(), DefaultPlugins))
        .add_plugins(AgentsPlugin::<Sees, Steers>::new(config).with_step(Step {
            learning_budget_us: 4000.0,
            ..default()
        }))
        .insert_resource(ClearColor(Color::srgb(0.03, 0.05, 0.09)))
        .insert_resource(Run {
            frames,
            picture: arguments.next().unwrap_or_default(),
            frame: 0,
            company: 0.0,
        })
        .add_systems(Startup, spawn)
        .add_systems(Update, (fly, report).chain())
        .run();
}

fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<ColorMaterial>>,
) {
    commands.spawn(Camera2d);
    let body = Triangle2d::new(vec2(9.0, 0.0), vec2(-6.0, 5.0), vec2(-6.0, -5.0));
    let mesh = meshes.add(body);
    for i in 0..BOIDS {
        // The golden angle and ratio spread places and headings evenly.
        let heading = i as f32 * 2.399_963;
        let place = vec2(
            (i as f32 * 0.618_034).fract(),
            (i as f32 * 0.754_878).fract(),
        );
        let hue = 180.0 + 60.0 * i as f32 / BOIDS as f32;
        commands.spawn((
            Bird::new(Sees::default()),
            Boid {
                turn: 0.0,
                heading,
                age: i * EPISODE / BOIDS,
            },
            Mesh2d(mesh.clone()),
            MeshMaterial2d(materials.add(Color::hsl(hue, 0.8, 0.6))),
            Transform::from_translation(((place * 2.0 - 1.0) * ARENA).extend(0.0)),
        ));
    }
}

/// The shortest way between two places of the arena, whose edges meet.
fn way(from: Vec2, to: Vec2) -> Vec2 {
    let way = to - from;
    way - (way / (2.0 * ARENA)).round() * 2.0 * ARENA
}

fn fly(mut boids: Query<(&mut Bird, &mut Boid, &mut Transform)>, mut run: ResMut<Run>) {
    for (mut bird, mut boid, mut transform) in &mut boids {
        if let Some(steers) = bird.decision() {
            boid.turn = steers.turn.clamp(-1.0, 1.0);
        }
        boid.heading += 0.12 * boid.turn;
        let place = transform.translation.truncate() + SPEED * Vec2::from_angle(boid.heading);
        let place = place - (place / (2.0 * ARENA)).round() * 2.0 * ARENA;
        *transform = Transform::from_translation(place.extend(0.0))
            .with_rotation(Quat::from_rotation_z(boid.heading));
    }
    let all: Vec<_> = boids
        .iter()
        .map(|(_, boid, transform)| (transform.translation.truncate(), boid.heading))
        .collect();
    let mut company = 0.0;
    for (i, (mut bird, mut boid, _)) in boids.iter_mut().enumerate() {
        let (place, ahead) = (all[i].0, Vec2::from_angle(-boid.heading));
        let (mut center, mut heading, mut count) = (Vec2::ZERO, Vec2::ZERO, 0.0);
        let mut nearest = Vec2::splat(SIGHT);
        for (_, (other, angle)) in all.iter().enumerate().filter(|(j, _)| *j != i) {
            let to = way(place, *other);
            if to.length() < SIGHT {
                center += to;
                heading += Vec2::from_angle(*angle);
                count += 1.0;
                nearest = if to.length() < nearest.length() {
                    to
                } else {
                    nearest
                };
            }
        }
        let own = |v: Vec2| ahead.rotate(v).to_array(); // in the boid's frame
        let flock = f32::min(count / 6.0, 1.0);
        bird.observe(Sees {
            center: own(center / f32::max(count, 1.0) / SIGHT),
            heading: own(heading / f32::max(count, 1.0)),
            nearest: own(nearest / SIGHT),
            company: flock,
        });
        let aligned = Vec2::from_angle(boid.heading).dot(heading) / f32::max(count, 1.0);
        let crowded = if nearest.length() < TOO_CLOSE {
            1.0
        } else {
            0.0
        };
        bird.reward(0.1 * (flock + aligned - crowded - 0.1 * boid.turn.abs()));
        company += (flock + aligned) / (2.0 * BOIDS as f32);
        boid.age += 1;
        if boid.age.is_multiple_of(EPISODE) {
            bird.end_episode(EpisodeEnd::Truncated);
        }
    }
    run.company += company;
}

fn report(
    mut run: ResMut<Run>,
    brain: Option<Res<Brain<Sees, Steers>>>,
    mut commands: Commands,
    mut exit: MessageWriter<AppExit>,
) {
    run.frame += 1;
    if run.frame.is_multiple_of(500) {
        let status = brain
            .and_then(|brain| brain.agents().status().ok())
            .unwrap_or_default();
        let steps = status.counters.get("gradient_steps").copied().unwrap_or(0);
        println!(
            "frame {}: flocking {:.2}, {steps} gradient steps",
            run.frame,
            run.company / 500.0
        );
        run.company = 0.0;
    }
    if run.frame == run.frames && !run.picture.is_empty() {
        let picture = save_to_disk(run.picture.clone());
        commands
            .spawn(Screenshot::primary_window())
            .observe(picture);
    }
    if run.frame >= run.frames.saturating_add(60) {
        exit.write(AppExit::Success); // the picture has been written
    }
}
