// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use std::collections::HashMap;
use std::fmt::Write;
use std::marker::PhantomData;
use std::ptr::{null, null_mut};

use crate::device::{Host, Program};
use crate::error::{aligned, c_string, check, check_messages, fail, text_of};
use crate::{sys, Action, Device, Error, Frame, Observation, Result};

/// The learner and network of agents.
///
/// ```
/// let config = hearth::AgentsConfig::ppo(64).hidden_sizes(&[64, 64]).set("n_steps", 128.0);
/// ```
#[derive(Debug, Clone)]
pub struct AgentsConfig {
    max_agents: u32,
    learner: String,
    hyperparameters: String,
    hidden_sizes: Vec<u32>,
    frame_stack: u32,
    seed: u64,
}

impl AgentsConfig {
    /// `learner`: "ppo", "dqn", "sac", "behavior_cloning" or "tamer".
    pub fn new(learner: &str, max_agents: u32) -> AgentsConfig {
        AgentsConfig {
            max_agents,
            learner: learner.into(),
            hyperparameters: String::new(),
            hidden_sizes: vec![64, 64],
            frame_stack: 1,
            seed: 0,
        }
    }

    /// Proximal policy optimization, for up to `max_agents` agents at once.
    pub fn ppo(max_agents: u32) -> AgentsConfig {
        Self::new("ppo", max_agents)
    }

    /// A hyperparameter of the learner by name (docs/reference/learners.md).
    pub fn set(mut self, name: &str, value: f64) -> AgentsConfig {
        let _ = write!(self.hyperparameters, ", {name:?}: {value}");
        self
    }

    /// As [`AgentsConfig::set`], for a hyperparameter that [`Agents::set_hyperparameter`] changes.
    pub fn set_tunable(mut self, name: &str, value: f64) -> AgentsConfig {
        let _ = write!(self.hyperparameters, ", {name:?}: {{\"tunable\": {value}}}");
        self
    }

    /// Sizes of the network's hidden layers; 64, 64.
    pub fn hidden_sizes(mut self, sizes: &[u32]) -> AgentsConfig {
        self.hidden_sizes = sizes.to_vec();
        self
    }

    /// Number of observations that the network sees; 1.
    pub fn frame_stack(mut self, count: u32) -> AgentsConfig {
        self.frame_stack = count;
        self
    }

    /// The seed of all random numbers; 0.
    pub fn seed(mut self, seed: u64) -> AgentsConfig {
        self.seed = seed;
        self
    }

    /// Compiles agents: a package for [`Device::load_agents`].  For an adopted device it runs on
    /// all devices with its kind of bindings, else on this device.
    pub fn cook<O: Observation, A: Action>(&self, device: &Device) -> Result<Vec<u8>> {
        let Self {
            max_agents,
            learner,
            hyperparameters,
            hidden_sizes,
            frame_stack,
            seed,
        } = self;
        let options = format!(
            "{{\"max_batch_size\": {max_agents}, \"device_targets\": [\"{}\"], \"seed\": {seed}, \
             \"frame_stack\": {frame_stack}, \"observations\": {}, \"actions\": {}, \
             \"network\": {{\"kind\": \"mlp\", \"hidden_sizes\": {hidden_sizes:?}}}, \
             \"learner\": {{\"kind\": {learner:?}{hyperparameters}}}}}",
            device.target(),
            O::fields(),
            A::fields(),
        );
        device.compile(&options, |options, host, blob, messages| {
            // SAFETY: all pointers are valid during the call.
            unsafe { sys::hearth_cook_agents(options, host, blob, messages) }
        })
    }
}

/// An agent of [`Agents`].  Calls detect those that were removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Agent {
    index: u32,
    generation: u32,
}

impl Agent {
    fn raw(self) -> sys::hearth_agent {
        sys::hearth_agent {
            index: self.index,
            generation: self.generation,
        }
    }
}

/// The reason for the end of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpisodeEnd {
    /// In a terminal state.
    Terminated,
    /// By a time limit: it could have gone on.
    Truncated,
}

/// A frame of agents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Above 0.5 samples actions, else takes the likeliest; of DQN and TAMER the fraction of
    /// random actions.
    pub exploration: f32,
    /// GPU microseconds for learning; 0: none.
    pub learning_budget_us: f64,
    /// False: agents only learn in this frame.
    pub decide: bool,
}

impl Default for Step {
    fn default() -> Self {
        Step {
            exploration: 1.0,
            learning_budget_us: 500.0,
            decide: true,
        }
    }
}

/// The state of agents, as of the last frame that arrived.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Status {
    pub agents: u32,
    pub decisions: u64,
    pub rollouts: u64,
    pub rewards_rejected: u64,
    pub rollbacks: u64,
    /// True while weights are updated from a full rollout.
    pub is_updating: bool,
    pub minibatches_done: u32,
    pub minibatches: u32,
    /// High estimates of GPU time; 0: not measured.
    pub decision_us_p95: f64,
    pub minibatch_us_p95: f64,
    /// "episode_return", "kl" and so on.
    pub metrics: HashMap<String, f32>,
    /// "samples", "gradient_steps" and so on.
    pub counters: HashMap<String, u64>,
}

/// Agents that share a brain, and learn while they act.
///
/// Each frame: pass observations, [`Agents::step`] or [`Agents::record`], act by
/// [`Agents::action`], and pass rewards.  `Send`, and not `Sync`: one thread at a time.
///
/// ```
/// # use hearth::{Action, Agents, Observation};
/// fn moved<O: Observation + Send, A: Action + Send>(agents: Agents<O, A>) -> impl Send { agents }
/// ```
/// ```compile_fail,E0277
/// # use hearth::{Action, Agents, Observation};
/// fn shared<O: Observation + Send, A: Action + Send>(agents: &Agents<O, A>) -> impl Send + '_ { agents }
/// ```
pub struct Agents<O, A> {
    program: Program,
    raw: *mut sys::hearth_agents,
    _types: PhantomData<fn(O) -> A>,
}

// SAFETY: agents belong to the thread that holds the device's mutex; no O or A is kept.
unsafe impl<O, A> Send for Agents<O, A> {}

impl<O: Observation, A: Action> Agents<O, A> {
    pub(crate) fn new(device: &Device, package: &[u8]) -> Result<Self> {
        // From here on the agents destroy what was created.
        let mut agents = Agents {
            program: Program::new(device, package)?,
            raw: null_mut(),
            _types: PhantomData,
        };
        let host = device.lock();
        let created = agents.create(&host);
        drop(host); // the destructor locks it
        created.map(|()| agents)
    }

    fn create(&mut self, host: &Host) -> Result<()> {
        let mut messages = sys::hearth_messages::default();
        // Frames of a headless device wait for it.
        let frames_in_flight = if host.headless.is_null() { 3 } else { 1 };
        let info = sys::hearth_agents_create_info {
            program: self.program.raw,
            frames_in_flight,
            ..Default::default()
        };
        // SAFETY: program and context live; the out pointer is a field.
        unsafe {
            check_messages(
                sys::hearth_agents_create(host.context, &info, &mut self.raw, &mut messages),
                &messages,
            )?;
            let session = sys::hearth_agents_get_session(self.raw);
            check(sys::hearth_session_create_pipelines(session, 0), || {
                sys::hearth_session_error(session)
            })?;
            check_size(
                "observation",
                sys::hearth_agents_observation_size(self.raw),
                O::SIZE,
            )?;
            check_size("action", sys::hearth_agents_action_size(self.raw), A::SIZE)?;
            for name in field_names(&O::fields()) {
                let (mut offset, mut size) = (0, 0);
                self.check(sys::hearth_agents_find_observation(
                    self.raw,
                    c_string(name)?.as_ptr(),
                    &mut offset,
                    &mut size,
                ))?;
            }
            for name in field_names(&A::fields()) {
                let (mut offset, mut size) = (0, 0);
                self.check(sys::hearth_agents_find_action(
                    self.raw,
                    c_string(name)?.as_ptr(),
                    &mut offset,
                    &mut size,
                ))?;
            }
        }
        Ok(())
    }

    fn check(&self, result: sys::hearth_result) -> Result<()> {
        // SAFETY: the agents live, and their error is a string.
        unsafe { check(result, || sys::hearth_agents_error(self.raw)) }
    }

    fn no_agent<T>(&self, agent: Agent) -> Result<T> {
        fail(
            sys::HEARTH_ERROR_NOT_FOUND,
            format!(
                "agent {} of generation {} does not exist",
                agent.index, agent.generation
            ),
        )
    }

    /// Adds an agent, which begins an episode.
    pub fn add(&mut self) -> Result<Agent> {
        let _host = self.program.device.lock();
        let mut agent = sys::hearth_agent {
            index: 0,
            generation: 0,
        };
        // SAFETY: the agents live.
        self.check(unsafe { sys::hearth_agents_add(self.raw, &mut agent) })?;
        Ok(Agent {
            index: agent.index,
            generation: agent.generation,
        })
    }

    pub fn remove(&mut self, agent: Agent) -> Result<()> {
        let _host = self.program.device.lock();
        // SAFETY: the agents live.
        self.check(unsafe { sys::hearth_agents_remove(self.raw, agent.raw()) })
    }

    /// Passes what the agent decides by in the next frame.
    pub fn observe(&mut self, agent: Agent, observation: &O) -> Result<()> {
        let _host = self.program.device.lock();
        // SAFETY: the agents live, and an agent's observation has SIZE floats.
        unsafe {
            let to = sys::hearth_agents_observation(self.raw, agent.raw());
            if to.is_null() {
                return self.no_agent(agent);
            }
            observation.write(std::slice::from_raw_parts_mut(to, O::SIZE));
        }
        Ok(())
    }

    /// Adds to the reward of the agent's last decision.
    pub fn reward(&mut self, agent: Agent, amount: f32) -> Result<()> {
        let _host = self.program.device.lock();
        // SAFETY: the agents live.
        self.check(unsafe { sys::hearth_agents_add_reward(self.raw, agent.raw(), amount) })
    }

    /// Ends the agent's episode with its last decision.  `last`: its last observation, if it was
    /// truncated; none: that which was passed last.
    pub fn end_episode(&mut self, agent: Agent, end: EpisodeEnd, last: Option<&O>) -> Result<()> {
        let floats = last.map(|last| {
            let mut floats = vec![0.0; O::SIZE];
            last.write(&mut floats);
            floats
        });
        let end = match end {
            EpisodeEnd::Terminated => sys::HEARTH_AGENTS_TERMINATED,
            EpisodeEnd::Truncated => sys::HEARTH_AGENTS_TRUNCATED,
        };
        let last = floats.as_ref().map_or(null(), |floats| floats.as_ptr());
        let _host = self.program.device.lock();
        // SAFETY: the agents live, and the floats during the call.
        self.check(unsafe {
            sys::hearth_agents_end_episode(self.raw, agent.raw(), end, last, null())
        })
    }

    /// The agent's newest decision; none before its first.
    pub fn action(&self, agent: Agent) -> Option<A> {
        let _host = self.program.device.lock();
        // SAFETY: the agents live, and an action has SIZE floats until the next poll.
        unsafe {
            let newest = sys::hearth_agents_action(self.raw, agent.raw());
            (!newest.is_null()).then(|| A::read(std::slice::from_raw_parts(newest, A::SIZE)))
        }
    }

    /// A frame on a device of [`Device::new`]: stores outcomes, decides, learns, and waits.
    pub fn step(&mut self, step: &Step) -> Result<()> {
        let device = self.program.device.clone();
        device.run(|frame| self.record(frame, step))?;
        self.poll();
        Ok(())
    }

    /// Takes over actions and status that have arrived, after a frame began or was completed.
    pub fn poll(&mut self) {
        let _host = self.program.device.lock();
        // SAFETY: the agents live.
        unsafe { sys::hearth_agents_poll(self.raw) };
    }

    /// Takes over the actions that have arrived, stores outcomes, decides and learns, in a frame.
    pub fn record(&mut self, frame: &mut Frame, step: &Step) -> Result<()> {
        frame.check_device(&self.program.device)?;
        let info = sys::hearth_agents_record_info {
            command_buffer: frame.commands,
            exploration: step.exploration,
            learning_budget_us: step.learning_budget_us,
            request_decision: u32::from(step.decide),
            ..Default::default()
        };
        let _host = self.program.device.lock();
        // SAFETY: agents and frame live.
        unsafe {
            sys::hearth_agents_poll(self.raw);
            self.check(sys::hearth_agents_record(self.raw, &info))
        }
    }

    /// Stops or resumes learning.
    pub fn freeze(&mut self, is_frozen: bool) {
        let _host = self.program.device.lock();
        // SAFETY: the agents live.
        unsafe { sys::hearth_agents_freeze(self.raw, u32::from(is_frozen)) };
    }

    /// Sets a hyperparameter of [`AgentsConfig::set_tunable`].
    pub fn set_hyperparameter(&mut self, name: &str, value: f64) -> Result<()> {
        let name = c_string(name)?;
        let _host = self.program.device.lock();
        // SAFETY: agents and name live.
        self.check(unsafe { sys::hearth_agents_set_hyperparameter(self.raw, name.as_ptr(), value) })
    }

    /// Forgets what was learned, and all snapshots, in the next frame.
    pub fn reset(&mut self) {
        let _host = self.program.device.lock();
        // SAFETY: the agents live.
        unsafe { sys::hearth_agents_reset_brain(self.raw) };
    }

    pub fn status(&self) -> Result<Status> {
        let _host = self.program.device.lock();
        let raw = self.raw_status()?;
        // SAFETY: the names are static.
        unsafe {
            let metric = |i| text_of(sys::hearth_agents_metric_name(i));
            let counter = |i| text_of(sys::hearth_agents_counter_name(i));
            Ok(Status {
                agents: raw.agents,
                decisions: raw.decisions,
                rollouts: raw.rollouts,
                rewards_rejected: raw.rewards_rejected,
                rollbacks: raw.rollbacks,
                is_updating: raw.phase == sys::HEARTH_AGENTS_UPDATE,
                minibatches_done: raw.minibatches_done,
                minibatches: raw.minibatches,
                decision_us_p95: raw.decision_us_p95,
                minibatch_us_p95: raw.minibatch_us_p95,
                metrics: (0..).map(metric).zip(raw.metrics).collect(),
                counters: (0..).map(counter).zip(raw.counters).collect(),
            })
        }
    }

    fn raw_status(&self) -> Result<sys::hearth_agents_status> {
        let mut status = sys::hearth_agents_status::default();
        // SAFETY: the agents live.
        self.check(unsafe { sys::hearth_agents_get_status(self.raw, &mut status) })?;
        Ok(status)
    }

    /// Returns what was learned so far, as a brain for [`Agents::load`], from a device of
    /// [`Device::new`].  Runs frames without decisions.
    pub fn save(&mut self) -> Result<Vec<u8>> {
        const MAX_FRAMES: u32 = 1000;
        let learn = Step {
            decide: false,
            ..Step::default()
        };
        let snapshot = self.take_snapshot()?;
        // Snapshots are taken between updates: one in progress is finished first.
        for _ in 0..MAX_FRAMES {
            // SAFETY: the agents live.
            unsafe { sys::hearth_agents_finish_update(self.raw) };
            self.step(&learn)?;
            if let Some(brain) = self.snapshot(snapshot)? {
                return Ok(brain);
            }
        }
        fail(
            sys::HEARTH_NOT_READY,
            format!("no snapshot has arrived in {MAX_FRAMES} frames"),
        )
    }

    /// Requests a snapshot, which arrives with a later frame: see [`Agents::snapshot`].
    pub fn take_snapshot(&mut self) -> Result<Snapshot> {
        let _host = self.program.device.lock();
        let after = self.raw_status()?.snapshots_taken;
        // SAFETY: the agents live.
        self.check(unsafe { sys::hearth_agents_take_snapshot(self.raw) })?;
        Ok(Snapshot { after })
    }

    /// The brain of a snapshot, for [`Agents::load`]; none until it has arrived.
    pub fn snapshot(&self, snapshot: Snapshot) -> Result<Option<Vec<u8>>> {
        let _host = self.program.device.lock();
        if self.raw_status()?.snapshots_taken <= snapshot.after {
            return Ok(None);
        }
        let mut count = 0;
        // SAFETY: the brain has as many bytes as told.
        unsafe {
            self.check(sys::hearth_agents_save(self.raw, 0, null_mut(), &mut count))?;
            let mut brain = vec![0u8; count as usize];
            self.check(sys::hearth_agents_save(
                self.raw,
                0,
                brain.as_mut_ptr().cast(),
                &mut count,
            ))?;
            brain.truncate(count as usize);
            Ok(Some(brain))
        }
    }

    /// Goes on from a brain, in the next frame.
    pub fn load(&mut self, brain: &[u8]) -> Result<()> {
        let words = aligned(brain);
        let mut messages = sys::hearth_messages::default();
        let _host = self.program.device.lock();
        // SAFETY: agents and words live.
        let result = unsafe {
            sys::hearth_agents_load(
                self.raw,
                words.as_ptr().cast(),
                brain.len() as u64,
                &mut messages,
            )
        };
        check_messages(result, &messages)
    }
}

/// A snapshot that was requested: see [`Agents::take_snapshot`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    after: u64,
}

fn check_size(what: &str, found: u32, expected: usize) -> Result<()> {
    if found as usize == expected {
        return Ok(());
    }
    Err(Error {
        code: sys::HEARTH_ERROR_INCOMPATIBLE,
        message: format!(
            "{what}: the program's type has {expected} floats, the package {found}; cook it again"
        ),
    })
}

/// The names of the outermost fields of JSON that the derives write.
fn field_names(json: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    json.match_indices(['{', '}'])
        .filter_map(move |(i, brace)| {
            depth += if brace == "{" { 1 } else { -1 };
            let rest = json[i..].strip_prefix("{\"name\": \"")?;
            (depth == 1).then(|| rest.split('"').next().unwrap_or_default())
        })
}

impl<O, A> Drop for Agents<O, A> {
    fn drop(&mut self) {
        let _host = self.program.device.lock();
        // SAFETY: the session frees its memory when the device is done.
        unsafe { sys::hearth_agents_destroy(self.raw) };
    }
}
