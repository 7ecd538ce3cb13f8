// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bevy_app::{App, Plugin, PostUpdate, PreUpdate};
use bevy_ecs::prelude::*;
use hearth::{AgentsConfig, EpisodeEnd, Step};

use crate::Hearth;

/// An entity that observes, acts and learns.
///
/// A decision takes a frame or more to arrive.  Until the next one, rewards belong to it:
///
/// 1. [`Agent::decision`] is there: act on it, now or until the next one.
/// 2. [`Agent::reward`], [`Agent::end_episode`]: what came of it.
/// 3. [`Agent::observe`]: what the next one is made by.
#[derive(Component, Debug)]
pub struct Agent<O: Send + Sync + 'static, A: Send + Sync + 'static> {
    observation: Option<O>,
    decision: Option<A>,
    reward: f32,
    end: Option<EpisodeEnd>,
}

impl<O: Send + Sync, A: Send + Sync> Agent<O, A> {
    pub fn new(observation: O) -> Self {
        Agent {
            observation: Some(observation),
            decision: None,
            reward: 0.0,
            end: None,
        }
    }

    /// Takes the decision that has arrived since the last call.
    pub fn decision(&mut self) -> Option<A> {
        self.decision.take()
    }

    /// Adds to the reward of the last decision that arrived.
    pub fn reward(&mut self, amount: f32) {
        self.reward += amount;
    }

    /// Ends the episode with the last decision that arrived.
    pub fn end_episode(&mut self, end: EpisodeEnd) {
        self.end = Some(end);
    }

    /// Passes what the next decision is made by.
    pub fn observe(&mut self, observation: O) {
        self.observation = Some(observation);
    }
}

/// The agents of all entities with [`Agent<O, A>`], which share a brain.
#[derive(Resource)]
pub struct Brain<O: Send + Sync + 'static, A: Send + Sync + 'static> {
    agents: Mutex<hearth::Agents<O, A>>,
    members: HashMap<Entity, hearth::Agent>,
    /// Exploration, and the GPU microseconds of each frame for learning.
    pub step: Step,
    /// The frame of the last decision, and who took part; none once it has arrived.
    deciding: Option<(u64, Vec<Entity>)>,
}

impl<O: hearth::Observation + Send + Sync, A: hearth::Action + Send + Sync> Brain<O, A> {
    /// For status, snapshots, loading and hyperparameters.
    pub fn agents(&self) -> MutexGuard<'_, hearth::Agents<O, A>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Systems of [`AgentsPlugin`].
#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
pub enum HearthSystems {
    /// In `PreUpdate`: decisions that have arrived are given to the agents.
    Receive,
    /// In `PostUpdate`: rewards and observations are taken from the agents, and the frame is
    /// submitted.
    Decide,
}

/// Adds the resource [`Brain<O, A>`], and systems that let entities with [`Agent<O, A>`] learn.
pub struct AgentsPlugin<O, A> {
    source: Source,
    step: Step,
    _types: std::marker::PhantomData<fn(O) -> A>,
}

enum Source {
    Config(AgentsConfig),
    Package(Vec<u8>),
}

impl<O, A> AgentsPlugin<O, A> {
    /// Compiles the agents when the app starts, which takes seconds.
    pub fn new(config: AgentsConfig) -> Self {
        Self::of(Source::Config(config))
    }

    /// Agents that were compiled by [`AgentsConfig::cook`].
    pub fn from_package(package: Vec<u8>) -> Self {
        Self::of(Source::Package(package))
    }

    fn of(source: Source) -> Self {
        AgentsPlugin {
            source,
            step: Step::default(),
            _types: std::marker::PhantomData,
        }
    }

    /// [`Brain::step`] at the start.
    pub fn with_step(mut self, step: Step) -> Self {
        self.step = step;
        self
    }
}

impl<O, A> Plugin for AgentsPlugin<O, A>
where
    O: hearth::Observation + Send + Sync + 'static,
    A: hearth::Action + Send + Sync + 'static,
{
    fn build(&self, app: &mut App) {
        assert!(
            app.is_plugin_added::<crate::HearthPlugin>(),
            "AgentsPlugin needs HearthPlugin: add it before DefaultPlugins"
        );
        app.add_systems(PreUpdate, receive::<O, A>.in_set(HearthSystems::Receive))
            .add_systems(PostUpdate, decide::<O, A>.in_set(HearthSystems::Decide));
    }

    fn cleanup(&self, app: &mut App) {
        let Some(hearth) = app.world().get_resource::<Hearth>() else {
            return; // HearthPlugin has told why
        };
        let device = hearth.device();
        let created = match &self.source {
            Source::Config(config) => device.agents(config),
            Source::Package(package) => device.load_agents(package),
        };
        match created {
            Ok(agents) => app.insert_resource(Brain::<O, A> {
                agents: Mutex::new(agents),
                members: HashMap::new(),
                step: self.step,
                deciding: None,
            }),
            Err(error) => {
                log::error!("Hearth cannot create agents: {error}");
                app
            }
        };
    }
}

fn receive<O, A>(
    hearth: Option<Res<Hearth>>,
    brain: Option<ResMut<Brain<O, A>>>,
    mut agents: Query<&mut Agent<O, A>>,
) where
    O: hearth::Observation + Send + Sync + 'static,
    A: hearth::Action + Send + Sync + 'static,
{
    let (Some(hearth), Some(mut brain)) = (hearth, brain) else {
        return;
    };
    if let Err(error) = hearth.poll() {
        return log::error!("agents: {error}");
    }
    let has_arrived = |(frame, _): &mut (u64, _)| *frame <= hearth.completed_frame();
    let Some((_, entities)) = brain.deciding.take_if(has_arrived) else {
        return;
    };
    brain.agents().poll();
    for entity in entities {
        if let (Ok(mut agent), Some(member)) = (agents.get_mut(entity), brain.members.get(&entity))
        {
            agent.decision = brain.agents().action(*member);
        }
    }
}

fn decide<O, A>(
    hearth: Option<Res<Hearth>>,
    brain: Option<ResMut<Brain<O, A>>>,
    mut removed: RemovedComponents<Agent<O, A>>,
    mut entities: Query<(Entity, &mut Agent<O, A>)>,
) where
    O: hearth::Observation + Send + Sync + 'static,
    A: hearth::Action + Send + Sync + 'static,
{
    let (Some(hearth), Some(mut brain)) = (hearth, brain) else {
        return;
    };
    let gone = removed.read().collect::<Vec<_>>();
    let present = entities.iter_mut();
    if let Err(error) = brain.decide(&hearth, gone, present) {
        log::error!("agents: {error}");
    }
}

impl<O: hearth::Observation + Send + Sync, A: hearth::Action + Send + Sync> Brain<O, A> {
    fn decide<'a>(
        &mut self,
        hearth: &Hearth,
        gone: Vec<Entity>,
        present: impl Iterator<Item = (Entity, Mut<'a, Agent<O, A>>)>,
    ) -> hearth::Result<()> {
        let Brain {
            agents,
            members,
            step,
            deciding,
        } = self;
        let agents = agents.get_mut().unwrap_or_else(PoisonError::into_inner);
        for member in gone.iter().filter_map(|entity| members.remove(entity)) {
            agents.remove(member)?;
        }
        // The outcome of a decision is complete when the next one is made.
        let decides = step.decide && deciding.is_none();
        let mut deciders = Vec::new();
        for (entity, mut agent) in present {
            let member = match members.get(&entity) {
                Some(member) => *member,
                None => {
                    let member = agents.add()?;
                    members.insert(entity, member);
                    member
                }
            };
            // Without change detection: these are of no interest to the game.
            let agent = agent.bypass_change_detection();
            if agent.reward != 0.0 {
                agents.reward(member, std::mem::take(&mut agent.reward))?;
            }
            if let Some(end) = agent.end.take() {
                agents.end_episode(member, end, None)?;
            }
            if let Some(observation) = agent.observation.take() {
                agents.observe(member, &observation)?;
            }
            deciders.push(entity);
        }
        let step = Step {
            decide: decides && !deciders.is_empty(),
            ..*step
        };
        let mut frame = hearth.begin()?;
        let number = frame.number();
        agents.record(&mut frame, &step)?;
        frame.submit()?;
        if step.decide {
            *deciding = Some((number, deciders));
        }
        Ok(())
    }
}
