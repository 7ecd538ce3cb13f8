// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Agents that learn while they act.

using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using Hearth.Native;

namespace Hearth
{
    sealed unsafe class AgentsHandle : ProgramHandle
    {
        internal IntPtr Agents;

        internal AgentsHandle(HostHandle host, byte[] package) : base(host, package)
        {
            lock (host.Lock)
            {
                var info = hearth_agents_create_info.Default();
                info.program = Program;
                info.frames_in_flight = 1;  // each frame waits for the device
                hearth_messages messages;
                var result = Api.hearth_agents_create(host.Context, &info, out Agents, &messages);
                if (result < 0) throw new HearthException(result, Utf8.FromNative(messages.text));
                var session = Api.hearth_agents_get_session(Agents);
                HearthException.Check(Api.hearth_session_create_pipelines(session, 0),
                                      () => Utf8.FromNative(Api.hearth_session_error(session)));
            }
        }

        protected override void Destroy()
        {
            Api.hearth_agents_destroy(Agents);
        }
    }

    /// <summary>Agents that share a brain.  A frame:
    /// <code>
    /// foreach (var agent in present) agents.SetObservation(agent, what it sees);
    /// agents.Decide();
    /// foreach (var agent in present) { act by agents.Action(agent); agents.AddReward(agent, reward); }
    /// </code></summary>
    public sealed unsafe class Agents : IDisposable
    {
        readonly AgentsHandle handle;

        internal Agents(HostHandle host, byte[] package)
        {
            handle = new AgentsHandle(host, package);
            ObservationSize = (int)Api.hearth_agents_observation_size(handle.Agents);
            ActionSize = (int)Api.hearth_agents_action_size(handle.Agents);
        }

        /// <summary>Compiles agents for a device: a package for Device.LoadAgents.</summary>
        /// <param name="options">JSON, as hearth_cook_agents in hearth_workbench.h describes it.</param>
        public static byte[] Cook(string options, Device device)
        {
            IntPtr blob;
            hearth_messages messages;
            lock (device.Host.Lock)
            {
                var result = Api.hearth_cook_agents(Utf8.ToNative(options), device.Host.Raw, out blob, &messages);
                if (result < 0) throw new HearthException(result, Utf8.FromNative(messages.text));
            }
            var package = new byte[Api.hearth_blob_bytes(blob)];
            Marshal.Copy(Api.hearth_blob_data(blob), package, 0, package.Length);
            Api.hearth_blob_destroy(blob);
            return package;
        }

        public void Dispose()
        {
            handle.Dispose();
        }

        /// <summary>Number of floats.  A discrete action is its index.</summary>
        public int ObservationSize { get; private set; }
        public int ActionSize { get; private set; }

        IntPtr Pointer
        {
            get
            {
                handle.CheckOpen();
                return handle.Agents;
            }
        }
        string Error { get { return Utf8.FromNative(Api.hearth_agents_error(Pointer)); } }
        void Check(hearth_result result)
        {
            HearthException.Check(result, () => Error);
        }
        static HearthException NoAgent(hearth_agent agent)
        {
            return new HearthException(hearth_result.HEARTH_ERROR_NOT_FOUND,
                                       "agent " + agent.index + " of generation " + agent.generation + " does not exist");
        }

        /// <summary>Adds an agent, which begins an episode.</summary>
        public hearth_agent Add()
        {
            lock (handle.Host.Lock)
            {
                hearth_agent agent;
                Check(Api.hearth_agents_add(Pointer, &agent));
                return agent;
            }
        }
        public void Remove(hearth_agent agent)
        {
            lock (handle.Host.Lock) Check(Api.hearth_agents_remove(Pointer, agent));
        }

        /// <summary>What the agent decides by next.</summary>
        public void SetObservation(hearth_agent agent, params float[] values)
        {
            if (values.Length != ObservationSize)
                throw new HearthException(hearth_result.HEARTH_ERROR_OUT_OF_RANGE,
                                          "observation: expected " + ObservationSize + " values, found " + values.Length);
            lock (handle.Host.Lock)
            {
                var to = Api.hearth_agents_observation(Pointer, agent);
                if (to == null) throw NoAgent(agent);
                Marshal.Copy(values, 0, (IntPtr)to, values.Length);
            }
        }

        public void AddReward(hearth_agent agent, float amount)
        {
            lock (handle.Host.Lock) Check(Api.hearth_agents_add_reward(Pointer, agent, amount));
        }

        /// <summary>
        /// Ends the agent's episode with its last decision.  isTruncated: it could have gone on from finalObservation.
        /// </summary>
        public void EndEpisode(hearth_agent agent, bool isTruncated = false, float[] finalObservation = null)
        {
            if (finalObservation != null && finalObservation.Length != ObservationSize)
                throw new HearthException(hearth_result.HEARTH_ERROR_OUT_OF_RANGE, "final observation: expected " +
                                          ObservationSize + " values, found " + finalObservation.Length);
            var end = isTruncated ? hearth_agents_episode_end.HEARTH_AGENTS_TRUNCATED
                                  : hearth_agents_episode_end.HEARTH_AGENTS_TERMINATED;
            lock (handle.Host.Lock)
                fixed (float* last = finalObservation)
                    Check(Api.hearth_agents_end_episode(Pointer, agent, end, last, null));
        }

        /// <summary>A frame: stores outcomes, decides, learns, and waits for the device.</summary>
        /// <param name="exploration">above 0.5 samples actions, otherwise takes the likeliest; of DQN and TAMER the
        /// fraction of random actions.</param>
        /// <param name="learningBudgetUs">GPU microseconds for learning; 0: none.</param>
        public void Decide(float exploration = 1, double learningBudgetUs = 500)
        {
            Frame(exploration, learningBudgetUs, 1);
        }

        void Frame(float exploration, double learningBudgetUs, uint requestDecision)
        {
            lock (handle.Host.Lock)
            {
                var info = hearth_agents_record_info.Default();
                info.exploration = exploration;
                info.learning_budget_us = learningBudgetUs;
                info.request_decision = requestDecision;
                handle.Host.Frame(commands =>
                {
                    var recorded = info;
                    recorded.command_buffer = commands;
                    return Api.hearth_agents_record(Pointer, &recorded);
                }, () => Error);
                Api.hearth_agents_poll(Pointer);
            }
        }

        /// <summary>The agent's newest decision.</summary>
        public float[] Action(hearth_agent agent)
        {
            lock (handle.Host.Lock)
            {
                var newest = Api.hearth_agents_action(Pointer, agent);
                if (newest == null)
                    throw new HearthException(hearth_result.HEARTH_ERROR_INVALID_STATE,
                                              "the agent has not decided; call Decide after Add");
                var action = new float[ActionSize];
                Marshal.Copy((IntPtr)newest, action, 0, action.Length);
                return action;
            }
        }

        /// <summary>Stops or resumes learning.</summary>
        public void Freeze(bool frozen = true)
        {
            lock (handle.Host.Lock) Api.hearth_agents_freeze(Pointer, frozen ? 1u : 0u);
        }

        /// <summary>Metrics ("episode_return", "kl", ...) and counters ("samples", "gradient_steps", ...) by name.</summary>
        public Dictionary<string, double> Status()
        {
            lock (handle.Host.Lock)
            {
                var status = GetStatus();
                var values = new Dictionary<string, double>();
                for (uint i = 0; i < Api.HEARTH_AGENTS_METRICS; ++i)
                    values[Utf8.FromNative(Api.hearth_agents_metric_name(i))] = status.metrics[i];
                for (uint i = 0; i < Api.HEARTH_AGENTS_COUNTERS; ++i)
                    values[Utf8.FromNative(Api.hearth_agents_counter_name(i))] = status.counters[i];
                values["decisions"] = status.decisions;
                values["rollouts"] = status.rollouts;
                return values;
            }
        }

        hearth_agents_status GetStatus()
        {
            var status = hearth_agents_status.Default();
            Check(Api.hearth_agents_get_status(Pointer, &status));
            return status;
        }

        /// <summary>Returns the current brain.  Runs frames without decisions.</summary>
        public byte[] SaveBrain()
        {
            lock (handle.Host.Lock)
            {
                var taken = GetStatus().snapshots_taken;
                Check(Api.hearth_agents_take_snapshot(Pointer));
                // Snapshots are taken only between updates: one in progress is finished first.
                const int kMostFrames = 1000;
                for (var frame = 0; GetStatus().snapshots_taken == taken; ++frame)
                {
                    if (frame == kMostFrames)
                        throw new HearthException(hearth_result.HEARTH_NOT_READY, "no snapshot has arrived in 1,000 frames");
                    Api.hearth_agents_finish_update(Pointer);
                    Frame(1, 500, 0);
                }
                ulong count = 0;
                Check(Api.hearth_agents_save(Pointer, 0, IntPtr.Zero, &count));
                var brain = new byte[count];
                fixed (byte* to = brain) Check(Api.hearth_agents_save(Pointer, 0, (IntPtr)to, &count));
                Array.Resize(ref brain, (int)count);
                return brain;
            }
        }

        /// <summary>Goes on from a brain that SaveBrain or a game saved.</summary>
        public void LoadBrain(byte[] brain)
        {
            hearth_messages messages;
            lock (handle.Host.Lock)
                fixed (ulong* words = Utf8.Aligned(brain))
                {
                    var result = Api.hearth_agents_load(Pointer, (IntPtr)words, (ulong)brain.Length, &messages);
                    if (result < 0) throw new HearthException(result, Utf8.FromNative(messages.text));
                }
        }
    }
}
