#!/usr/bin/env node
import { runCommand } from './program.ts'

const interrupt = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort())
// The worker of `pawl dev` stops when its parent has gone.
process.once('disconnect', () => interrupt.abort())
process.channel?.unref()

process.exitCode = await runCommand(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  cwd: process.cwd(),
  env: process.env,
  signal: interrupt.signal,
})
