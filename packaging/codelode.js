#!/usr/bin/env node
// Starts the program of this platform, which npm has installed beside this package.
"use strict";

const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`@codelode/${platform}/codelode`);
} catch {
  console.error(
    `codelode: no program for ${platform} is installed. There are packages for Linux (glibc) and macOS, x64 and arm64; ` +
      "if yours is one of them, install again without --omit=optional or --no-optional.",
  );
  process.exit(1);
}

const args = process.argv.slice(2);
if (process.execve) {
  // Node 22.15 and later: the program takes the place of this process, which costs no memory then.
  process.execve(program, [program, ...args], process.env);
}

const child = spawn(program, args, { stdio: "inherit" });
// A terminal sends its signals to both processes; a program that ends this one sends them here alone.
const isAtTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => isAtTerminal && signal !== "SIGTERM" ? undefined : child.kill(signal));
}
child.on("error", (error) => {
  console.error(`codelode: ${error.message}`);
  process.exit(1);
});
child.on("exit", (status, signal) => {
  if (signal === null) {
    process.exit(status);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
