#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Nothing leaves the machine: no library of the SDK calls the network.
no_network_test.py C_COMPILER LIBRARY..."""

import os
import subprocess
import sys
import tempfile

FUNCTIONS = {"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "send", "sendto", "sendmsg",
             "sendmmsg", "recv", "recvfrom", "recvmsg", "recvmmsg", "shutdown", "getaddrinfo", "getnameinfo",
             "gethostbyname", "gethostbyname_r", "gethostbyaddr", "getpeername", "getsockname", "setsockopt", "inet_addr",
             "inet_aton", "inet_pton", "inet_ntop", "res_query", "res_search", "syscall", "popen", "system", "execve",
             "execvp", "posix_spawn", "posix_spawnp", "dlopen"}
PREFIXES = ("curl_", "SSL_", "BIO_", "gnutls_", "ares_", "io_uring_")


def calls(library):
    """The network functions that a library leaves undefined, and how many symbols it does."""
    command = ["nm", "--undefined-only"] + (["-D"] if ".so" in os.path.basename(library) else [])
    text = subprocess.run(command + [library], check=True, capture_output=True, text=True).stdout
    names = {line.split()[-1].split("@")[0] for line in text.splitlines() if " U " in f" {line} "}
    return sorted(n for n in names if n in FUNCTIONS or n.startswith(PREFIXES)), len(names)


def finds_a_socket(compiler):
    """That the search finds what it looks for."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "call.c"), os.path.join(folder, "libcall.a")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <sys/socket.h>\nint call(void) { return socket(AF_INET, SOCK_STREAM, 0); }\n")
        subprocess.run([compiler, "-c", source, "-o", library + ".o"], check=True)
        subprocess.run(["ar", "rc", library, library + ".o"], check=True)
        return calls(library)[0] == ["socket"]


def main():
    compiler, libraries = sys.argv[1], sys.argv[2:]
    failures = [] if finds_a_socket(compiler) else ["the search does not find a socket where there is one"]
    if len(libraries) < 2:
        failures.append(f"only {len(libraries)} libraries to look at")
    for library in libraries:
        found, count = calls(library)
        print(f"{os.path.basename(library)}: {count} undefined symbols")
        if count < 10:
            failures.append(f"{library}: only {count} undefined symbols")
        failures += [f"{library}: calls {name}" for name in found]
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
