#!/usr/bin/env node
import { runCommand } from './program.ts'

const interrupt = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort())
// The worker of `pawl dev` stops when its parent has gone.
process.once('disconnect', () => interrupt.abort())
process.channel?.unref()
// The reader of a pipe may leave early, as `head` does: a command that follows ends; a run continues.
process.stdout.on('error', (error) => {
  onClosed(error)
  interrupt.abort()
})
process.stderr.on('error', onClosed)

function onClosed(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

process.exitCode = await runCommand(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  cwd: process.cwd(),
  env: process.env,
  signal: interrupt.signal,
})
