// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs a package on a device: Tests.exe PACKAGE DEVICE.  act: y [batch, 2] = relu(w x + b) of
// x [batch, 3]; learn: changes w.

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
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
            Act(model);  // goes on after all of them
        }
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
            for (int round = 0; round < 20; ++round)
            {
                using (var model = device.Load(package))
                    for (int frame = 0; frame < 500; ++frame) Act(model);
                device.Load(package);  // left to the finalizer
                GC.Collect();
                GC.WaitForPendingFinalizers();
                if (round == 0) files = OpenFiles();
            }
            Expect(OpenFiles() <= files, "open files grew from " + files + " to " + OpenFiles());
        }
    }

    static void Main(string[] arguments)
    {
        Expect(Api.WrongLayout() == null, Api.WrongLayout() + " has another size");
        var package = File.ReadAllBytes(arguments[0]);
        LearnsAndGoesOn(package, arguments[1]);
        TellsWhatIsWrong(package, arguments[1]);
        LeaksNothing(package, arguments[1]);
        Console.WriteLine("10,000 frames: ok");
    }
}
