// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs a package and agents on a device: Tests.exe PACKAGE DEVICE.  act: y [batch, 2] = relu(w x + b)
// of x [batch, 3]; learn: changes w.

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using Hearth;
using Hearth.Native;

static class Tests
{
    static readonly float[] X = { 1, 2, 3, 0.5f, 0.25f, 4 };

    static void Expect(bool claim, string otherwise)
    {
        if (claim) return;
        Console.WriteLine("failed: " + otherwise);
        Environment.Exit(1);
    }

    static void ExpectError(hearth_result code, string text, Action call)
    {
        try
        {
            call();
        }
        catch (HearthException e)
        {
            Expect(e.Code == code && e.Message.Contains(text), "expected '" + text + "', found: " + e.Message);
            return;
        }
        Expect(false, "no error: " + text);
    }

    static void ExpectDisposed(Action call)
    {
        try
        {
            call();
        }
        catch (ObjectDisposedException)
        {
            return;
        }
        Expect(false, "what was disposed of was used");
    }

    static float[] Act(Model model)
    {
        return model.Run("act", new Dictionary<string, float[]> { { "x", X } }, 2)["y"];
    }

    static void LearnsAndGoesOn(byte[] package, string name)
    {
        var device = new Device(name);
        var model = device.Load(package);
        var before = Act(model);
        Expect(before.Length == 4, "act has " + before.Length + " values");
        Expect(model.Run("learn", new Dictionary<string, float[]> { { "x", X } }, 2)["loss"].Length == 1, "no loss");
        var learned = Act(model);
        Expect(!learned.SequenceEqual(before), "it learned nothing");
        var brain = model.Save();
        model.Reset();
        Expect(Act(model).SequenceEqual(before), "reset did not forget");
        var other = device.Load(package);
        device.Dispose();  // the models keep it alive
        other.Load(brain);
        Expect(Act(other).SequenceEqual(learned), "another model did not go on from the brain");
        Expect(Act(model).SequenceEqual(before), "models share what they learn");
        model.Dispose();
        other.Dispose();
    }

    static void TellsWhatIsWrong(byte[] package, string name)
    {
        using (var device = new Device(name))
        using (var model = device.Load(package))
        {
            var none = new Dictionary<string, float[]>();
            ExpectError(hearth_result.HEARTH_ERROR_NOT_FOUND, "no entry is named 'paint'; there are: act, learn",
                        () => model.Run("paint", none));
            ExpectError(hearth_result.HEARTH_ERROR_OUT_OF_RANGE, "x: expected 6 values, found 0", () => model.Run("act", none, 2));
            ExpectError(hearth_result.HEARTH_ERROR_NOT_FOUND, "act has no input z; there are: x",
                        () => model.Run("act", new Dictionary<string, float[]> { { "z", X } }, 2));
            ExpectError(hearth_result.HEARTH_ERROR_CORRUPT_DATA, "brain: ", () => model.Load(new byte[] { 1, 2, 3 }));
            ExpectError(hearth_result.HEARTH_ERROR_NOT_FOUND, "no device is named 'no such device'",
                        () => new Device("no such device"));
            ExpectError(hearth_result.HEARTH_ERROR_NOT_FOUND, "manifest", () => device.LoadAgents(package));
            ExpectError(hearth_result.HEARTH_ERROR_INVALID_ARGUMENT, "", () => Agents.Cook("{}", device));
            Act(model);  // goes on after all of them
            model.Dispose();
            ExpectDisposed(() => Act(model));
            ExpectDisposed(() => model.Save());
            ExpectDisposed(() => model.Reset());
        }
    }

    const string Creatures = @"{
        ""max_batch_size"": 16, ""device_targets"": [""device""], ""seed"": 1,
        ""observations"": [{""name"": ""side"", ""kind"": ""box"", ""size"": 1}],
        ""actions"": [{""name"": ""go"", ""kind"": ""discrete"", ""n"": 2}],
        ""network"": {""kind"": ""mlp"", ""hidden_sizes"": [16]},
        ""learner"": {""kind"": ""ppo"", ""n_agents"": 16, ""n_steps"": 16, ""n_minibatches"": 2, ""n_epochs"": 4}}";

    // Returns the part of choices of the side that each agent sees.
    static double Play(Agents agents, hearth_agent[] present, int frames, float exploration, double budget)
    {
        var random = new Random(1);
        var sides = new int[present.Length];
        int right = 0;
        for (int frame = 0; frame < frames; ++frame)
        {
            for (int i = 0; i < present.Length; ++i)
            {
                sides[i] = random.Next(2);
                agents.SetObservation(present[i], 2 * sides[i] - 1);
            }
            agents.Decide(exploration, budget);
            for (int i = 0; i < present.Length; ++i)
            {
                bool isRight = (int)agents.Action(present[i])[0] == sides[i];
                if (isRight) ++right;
                agents.AddReward(present[i], isRight ? 1 : 0);
                agents.EndEpisode(present[i]);
            }
        }
        return (double)right / (frames * present.Length);
    }

    static void AgentsLearn(string name)
    {
        using (var device = new Device(name))
        {
            var package = Agents.Cook(Creatures, device);
            byte[] brain;
            using (var agents = device.LoadAgents(package))
            {
                var present = Enumerable.Range(0, 16).Select(i => agents.Add()).ToArray();
                Expect(agents.ObservationSize == 1 && agents.ActionSize == 1, "sizes are not 1 and 1");
                ExpectError(hearth_result.HEARTH_ERROR_OUT_OF_RANGE, "expected 1 values, found 2",
                            () => agents.SetObservation(present[0], 1, 2));
                ExpectError(hearth_result.HEARTH_ERROR_OUT_OF_RANGE, "16", () => agents.Add());
                Play(agents, present, 600, 1, 100000);
                Expect(agents.Status()["gradient_steps"] > 50, "hardly a gradient step");
                double right = Play(agents, present, 20, 0, 0);
                Expect(right > 0.95, "agents choose right in " + right);
                brain = agents.SaveBrain();
                agents.Remove(present[0]);
                ExpectError(hearth_result.HEARTH_ERROR_NOT_FOUND, "does not exist", () => agents.SetObservation(present[0], 1));
                agents.Dispose();
                ExpectDisposed(() => agents.Decide());
            }
            using (var agents = device.LoadAgents(package))
            {
                ExpectError(hearth_result.HEARTH_ERROR_CORRUPT_DATA, "brain", () => agents.LoadBrain(new byte[100]));
                agents.LoadBrain(brain);
                double right = Play(agents, new[] { agents.Add() }, 20, 0, 0);
                Expect(right > 0.95, "agents of a loaded brain choose right in " + right);
            }
        }
    }

    static void ThreadsTakeTurns(byte[] package, string name)
    {
        using (var device = new Device(name))
        {
            var threads = Enumerable.Range(0, 3).Select(i => new Thread(() =>
            {
                using (var model = device.Load(package))
                    for (int frame = 0; frame < 100; ++frame) Expect(Act(model).Length == 4, "a thread has no output");
            })).ToList();
            threads.ForEach(thread => thread.Start());
            threads.ForEach(thread => thread.Join());
        }
    }

    static long ResidentBytes()
    {
        const string file = "/proc/self/statm";
        return File.Exists(file) ? 4096 * long.Parse(File.ReadAllText(file).Split(' ')[1]) : 0;
    }

    static int OpenFiles()
    {
        return Directory.Exists("/proc/self/fd") ? Directory.GetFileSystemEntries("/proc/self/fd").Length : 0;
    }

    static void LeaksNothing(byte[] package, string name)
    {
        using (var device = new Device(name))
        {
            int files = 0;
            long resident = 0;
            for (int round = 0; round < 20; ++round)
            {
                using (var model = device.Load(package))
                    for (int frame = 0; frame < 500; ++frame) Act(model);
                device.Load(package);  // left to the finalizer
                GC.Collect();
                GC.WaitForPendingFinalizers();
                if (round == 0) files = OpenFiles();
                if (round == 5) resident = ResidentBytes();
            }
            long grown = ResidentBytes() - resident;
            Expect(grown < 8 << 20, "memory grew by " + grown + " bytes in 7,000 frames");
            Expect(OpenFiles() <= files, "open files grew from " + files + " to " + OpenFiles());
        }
    }

    static void Main(string[] arguments)
    {
        Expect(Api.WrongLayout() == null, Api.WrongLayout() + " has another size");
        var package = File.ReadAllBytes(arguments[0]);
        LearnsAndGoesOn(package, arguments[1]);
        TellsWhatIsWrong(package, arguments[1]);
        AgentsLearn(arguments[1]);
        ThreadsTakeTurns(package, arguments[1]);
        LeaksNothing(package, arguments[1]);
        Console.WriteLine("10,000 frames: ok");
    }
}
