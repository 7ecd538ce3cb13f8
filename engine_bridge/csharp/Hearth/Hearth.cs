// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Networks that run and learn, on a device of their own.  Native.cs has the C interface as it is.

using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text;
using Hearth.Native;

namespace Hearth
{
    /// <summary>A failed call: what was expected, what was found and what to do.</summary>
    public sealed class HearthException : Exception
    {
        public readonly hearth_result Code;

        internal HearthException(hearth_result code, string message) : base(message + " (" + code + ")")
        {
            Code = code;
        }

        internal static void Check(hearth_result code, Func<string> message)
        {
            if (code < 0) throw new HearthException(code, message());
        }
    }

    static unsafe class Utf8
    {
        internal static byte[] ToNative(string text)
        {
            return Encoding.UTF8.GetBytes(text + "\0");
        }

        internal static string FromNative(IntPtr text)
        {
            return text == IntPtr.Zero ? "" : FromNative((byte*)text);
        }

        internal static string FromNative(byte* text)
        {
            int length = 0;
            while (text[length] != 0) ++length;
            var bytes = new byte[length];
            Marshal.Copy((IntPtr)text, bytes, 0, length);
            return Encoding.UTF8.GetString(bytes);
        }

        /// <summary>Copies bytes to the alignment of 8 bytes that packages and brains need.</summary>
        internal static ulong[] Aligned(byte[] bytes)
        {
            var words = new ulong[Math.Max(1, (bytes.Length + 7) / 8)];
            Buffer.BlockCopy(bytes, 0, words, 0, bytes.Length);
            return words;
        }
    }

    sealed unsafe class HostHandle : SafeHandle
    {
        /// <summary>Held during each call: a host belongs to one thread at a time.</summary>
        internal readonly object Lock = new object();

        internal HostHandle(string name) : base(IntPtr.Zero, true)
        {
            hearth_messages messages;
            IntPtr host;
            HearthException.Check(Api.hearth_check_version(Api.HEARTH_VERSION),
                                  () => Utf8.FromNative(Api.hearth_build_info()));
            var result = Api.hearth_headless_create(Utf8.ToNative(name), 0, out host, &messages);
            if (result < 0) throw new HearthException(result, Utf8.FromNative(messages.text));
            SetHandle(host);
        }

        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }
        internal IntPtr Raw { get { return handle; } }
        internal IntPtr Context { get { return Api.hearth_headless_context(handle); } }
        internal string Error { get { return Utf8.FromNative(Api.hearth_headless_error(handle)); } }

        protected override bool ReleaseHandle()
        {
            return Api.hearth_headless_destroy(handle) == hearth_result.HEARTH_OK;
        }

        internal IntPtr LoadProgram(byte[] package)
        {
            IntPtr program;
            fixed (ulong* words = Utf8.Aligned(package))
                HearthException.Check(Api.hearth_headless_load_package(Raw, (IntPtr)words, (ulong)package.Length, null, 0,
                                                                       out program), () => Error);
            return program;
        }

        /// <summary>Submits what `record` records, and waits.</summary>
        internal void Frame(Func<IntPtr, hearth_result> record, Func<string> error)
        {
            IntPtr commands;
            HearthException.Check(Api.hearth_headless_begin(Raw, out commands), () => Error);
            try
            {
                HearthException.Check(record(commands), error);
            }
            catch
            {
                Api.hearth_headless_discard(Raw);
                throw;
            }
            HearthException.Check(Api.hearth_headless_submit(Raw), () => Error);
        }
    }

    /// <summary>A device.  Its models and agents keep it alive; threads take turns on it.</summary>
    public sealed class Device : IDisposable
    {
        internal readonly HostHandle Host;

        /// <summary>name: "": the best GPU; "cpu": this machine's CPU; digits: Vulkan's index; else a part of
        /// a name.</summary>
        public Device(string name = "")
        {
            Host = new HostHandle(name);
        }

        public string Name { get { return Utf8.FromNative(Api.hearth_headless_device(Host.Raw)); } }

        /// <summary>Loads a package (.hearth).</summary>
        public Model Load(byte[] package)
        {
            return new Model(Host, package);
        }

        /// <summary>Loads a package of agents, as Agents.Cook makes it.</summary>
        public Agents LoadAgents(byte[] package)
        {
            return new Agents(Host, package);
        }

        public void Dispose()
        {
            Host.Dispose();
        }
    }

    /// <summary>A program and what was created from it.  It keeps the device alive, in whatever order both are
    /// finalized.</summary>
    abstract class ProgramHandle : SafeHandle
    {
        internal readonly HostHandle Host;
        bool holdsHost;

        protected ProgramHandle(HostHandle host, byte[] package) : base(IntPtr.Zero, true)
        {
            Host = host;
            host.DangerousAddRef(ref holdsHost);
            lock (host.Lock) SetHandle(host.LoadProgram(package));
        }

        public override bool IsInvalid { get { return !holdsHost; } }
        internal IntPtr Program { get { return handle; } }

        /// <summary>Error: ObjectDisposedException after Dispose, where pointers are stale.</summary>
        internal void CheckOpen()
        {
            if (IsClosed) throw new ObjectDisposedException(GetType().Name.Replace("Handle", ""));
        }

        /// <summary>Destroys what was created from the program.</summary>
        protected abstract void Destroy();

        protected override bool ReleaseHandle()
        {
            lock (Host.Lock)
            {
                Destroy();
                Api.hearth_program_destroy(handle);
            }
            Host.DangerousRelease();
            return true;
        }
    }

    /// <summary>A program, its session and the buffers of its bindings.</summary>
    sealed unsafe class ModelHandle : ProgramHandle
    {
        internal readonly Dictionary<uint, hearth_headless_buffer> Buffers = new Dictionary<uint, hearth_headless_buffer>();
        internal IntPtr Session;

        internal ModelHandle(HostHandle host, byte[] package) : base(host, package)
        {
            lock (host.Lock)
            {
                // Saving and loading copy all variables at once.
                var info = hearth_session_create_info.Default();
                info.program = Program;
                info.upload_bytes = info.readback_bytes = Api.hearth_program_get_brain_size(Program) + (1 << 20);
                HearthException.Check(Api.hearth_session_create(host.Context, &info, out Session),
                                      () => Utf8.FromNative(Api.hearth_context_error(host.Context)));
                HearthException.Check(Api.hearth_session_create_pipelines(Session, 0), () => Error);
            }
        }

        internal string Error { get { return Utf8.FromNative(Api.hearth_session_error(Session)); } }

        protected override void Destroy()
        {
            foreach (var buffer in Buffers.Values)
            {
                var copy = buffer;
                Api.hearth_headless_buffer_destroy(Host.Raw, &copy);
            }
            Api.hearth_session_destroy(Session);
        }
    }

    /// <summary>A package on a device, with its variables.  One thread at a time.</summary>
    public sealed unsafe class Model : IDisposable
    {
        readonly ModelHandle handle;
        bool needsInitialize = true;

        internal Model(HostHandle host, byte[] package)
        {
            handle = new ModelHandle(host, package);
        }

        public void Dispose()
        {
            handle.Dispose();
        }

        /// <summary>Runs an entry, learning ones included, and waits for it.  Values are f32, by name.</summary>
        public Dictionary<string, float[]> Run(string entry, Dictionary<string, float[]> inputs, ulong batchSize = 1)
        {
            lock (handle.Host.Lock)
            {
                handle.CheckOpen();
                uint index;
                var info = hearth_entry_info.Default();
                CheckProgram(Api.hearth_program_find_entry(handle.Program, Utf8.ToNative(entry), &index));
                CheckProgram(Api.hearth_program_get_entry(handle.Program, index, &info));
                var described = Describe(info);
                var names = described.Where(b => b.is_output == 0).Select(b => Utf8.FromNative(b.name)).ToArray();
                foreach (var name in inputs.Keys)
                    if (!names.Contains(name))
                        throw new HearthException(hearth_result.HEARTH_ERROR_NOT_FOUND, entry + " has no input " + name +
                                                  "; there are: " + string.Join(", ", names));
                var bound = new hearth_tensor_binding[described.Length];
                for (uint i = 0; i < described.Length; ++i)
                    bound[i] = Bind(info.bindings[i], described[i], inputs, batchSize);
                fixed (hearth_tensor_binding* bindings = bound)
                {
                    var record = hearth_record_info.Default();
                    record.entry = index;
                    record.bindings = bindings;
                    record.binding_count = (uint)bound.Length;
                    record.batch_size = batchSize;
                    Frame(commands =>
                    {
                        var here = record;
                        here.command_buffer = commands;
                        return Api.hearth_record(handle.Session, &here, null);
                    });
                }
                var outputs = new Dictionary<string, float[]>();
                for (uint i = 0; i < described.Length; ++i)
                {
                    if (described[i].is_output == 0) continue;
                    var values = new float[bound[i].bytes / 4];
                    Marshal.Copy(handle.Buffers[info.bindings[i]].data, values, 0, values.Length);
                    outputs[Utf8.FromNative(described[i].name)] = values;
                }
                return outputs;
            }
        }

        hearth_binding_info[] Describe(hearth_entry_info entry)
        {
            var described = new hearth_binding_info[entry.binding_count];
            for (uint i = 0; i < entry.binding_count; ++i)
            {
                var binding = hearth_binding_info.Default();
                CheckProgram(Api.hearth_program_get_binding(handle.Program, entry.bindings[i], &binding));
                described[i] = binding;
            }
            return described;
        }

        /// <summary>Gives the binding a buffer, and an input its values.</summary>
        hearth_tensor_binding Bind(uint index, hearth_binding_info info, Dictionary<string, float[]> inputs, ulong batchSize)
        {
            string name = Utf8.FromNative(info.name);
            if (info.device_dtype != hearth_dtype.HEARTH_F32)
                throw new HearthException(hearth_result.HEARTH_ERROR_UNSUPPORTED, name + " is no f32, which Run passes");
            ulong bytes = info.bytes_fixed + info.bytes_per_item * batchSize;
            hearth_headless_buffer buffer;
            if (!handle.Buffers.TryGetValue(index, out buffer) || buffer.bytes < bytes)
            {
                if (handle.Buffers.Remove(index)) Api.hearth_headless_buffer_destroy(handle.Host.Raw, &buffer);
                HearthException.Check(Api.hearth_headless_buffer_create(handle.Host.Raw, bytes,
                                          hearth_headless_memory.HEARTH_HEADLESS_READBACK, &buffer), () => handle.Host.Error);
                handle.Buffers[index] = buffer;
            }
            if (info.is_output == 0)
            {
                float[] values;
                int found = inputs.TryGetValue(name, out values) ? values.Length : 0;
                if ((ulong)found * 4 != bytes)
                    throw new HearthException(hearth_result.HEARTH_ERROR_OUT_OF_RANGE,
                                              name + ": expected " + bytes / 4 + " values, found " + found);
                Marshal.Copy(values, 0, buffer.data, found);
            }
            var binding = Api.hearth_bind_buffer(index, buffer.buffer, 0, bytes, buffer.usage);
            // The host stage reads (VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT).
            binding.release_scope = Api.hearth_make_sync_scope(0x4000, 0x2000);
            return binding;
        }

        /// <summary>What was learned, as a brain for Load.</summary>
        public byte[] Save()
        {
            lock (handle.Host.Lock)
            {
                ulong readback = 0, frame, count;
                Frame(commands =>
                {
                    ulong id;
                    var result = Api.hearth_record_save_brain(handle.Session, commands, &id);
                    readback = id;
                    return result;
                });
                var info = hearth_brain_save_info.Default();
                HearthException.Check(Api.hearth_readback_poll(handle.Session, readback, &info.snapshot,
                                                               &info.snapshot_bytes, &frame), () => handle.Error);
                try
                {
                    CheckBrain(Api.hearth_brain_encode(handle.Program, &info, IntPtr.Zero, &count));
                    var brain = new byte[count];
                    fixed (byte* bytes = brain)
                        CheckBrain(Api.hearth_brain_encode(handle.Program, &info, (IntPtr)bytes, &count));
                    Array.Resize(ref brain, (int)count);
                    return brain;
                }
                finally
                {
                    Api.hearth_readback_release(handle.Session, readback);
                }
            }
        }

        static void CheckBrain(hearth_result result)
        {
            HearthException.Check(result, () => "the brain cannot be encoded; reset the model, or load a brain");
        }

        /// <summary>Returns to what Save returned, on any device.</summary>
        public void Load(byte[] brain)
        {
            lock (handle.Host.Lock)
            {
                string message = "";
                fixed (ulong* pinned = Utf8.Aligned(brain))
                {
                    var words = (IntPtr)pinned;
                    Frame(commands =>
                    {
                        hearth_messages messages;
                        var result = Api.hearth_record_load_brain(handle.Session, commands, words, (ulong)brain.Length, 0,
                                                                  &messages);
                        if (result < 0 && messages.message_count > 0) message = Utf8.FromNative(messages.text);
                        return result;
                    }, () => message != "" ? message : handle.Error);
                }
            }
        }

        /// <summary>Forgets what was learned.</summary>
        public void Reset()
        {
            lock (handle.Host.Lock)
                Frame(commands => Api.hearth_record_reset_variables(handle.Session, commands, null, null));
        }

        void Frame(Func<IntPtr, hearth_result> record, Func<string> error = null)
        {
            handle.CheckOpen();
            handle.Host.Frame(commands =>
            {
                var result = hearth_result.HEARTH_OK;
                if (needsInitialize) result = Api.hearth_record_initialize(handle.Session, commands);
                return result == hearth_result.HEARTH_OK ? record(commands) : result;
            }, error ?? (() => handle.Error));
            needsInitialize = false;
        }

        void CheckProgram(hearth_result result)
        {
            HearthException.Check(result, () => Utf8.FromNative(Api.hearth_program_error(handle.Program)));
        }
    }
}
