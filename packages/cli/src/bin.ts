#!/usr/bin/env node
import module from 'node:module'

// Node 22.8 and later can keep what they have compiled; this counts for what is imported from here on.
const compiling: typeof module & { enableCompileCache?(): unknown } = module
compiling.enableCompileCache?.()
const { runCommand } = await import('./program.ts')

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

const args = process.argv.slice(2)
const write = process.stdout.write.bind(process.stdout)
// A shell takes each line for a candidate, so what the code of the project prints is no result.
if (args[0] === 'complete') process.stdout.write = process.stderr.write.bind(process.stderr)

process.exitCode = await runCommand(args, {
  stdin: process.stdin,
  stdout: { isTTY: process.stdout.isTTY, columns: process.stdout.columns, write },
  stderr: process.stderr,
  cwd: process.cwd(),
  env: process.env,
  signal: interrupt.signal,
})
