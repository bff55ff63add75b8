import { createServer, type Server, type ServerOptions, tokens } from '@pawl/server'
import type { Context } from '../context.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { describeBroken } from './check.ts'
import { readWhole } from './numbers.ts'

export interface WorkerFlags {
  readonly concurrency?: string
  /** Names the runs that no longer match, as soon as it works. */
  readonly check?: boolean
}

/** Number of runs that are checked after each change of the code. */
const maxChecked = 1_000

/** Works on the store until SIGTERM or SIGINT, then stops cleanly. */
export async function worker(context: Context, flags: WorkerFlags): Promise<ExitStatus> {
  const { out, signal, surroundings } = context
  const concurrency =
    flags.concurrency === undefined ? undefined : readWhole('--concurrency', flags.concurrency)
  const { engine } = await context.working({ concurrency })
  out.note('  Working. Press Ctrl-C to stop.')
  if (flags.check === true)
    for (const line of describeBroken(await engine.check({ limit: maxChecked }), surroundings.cwd))
      out.note(line)
  await aborted(signal)
  out.note('  Stopping: waiting for steps at work...')
  return exit.done
}

export interface ServerFlags {
  readonly port?: string
  readonly host?: string
  readonly hosts?: readonly string[]
  readonly tokens?: string
}

/** Serves the HTTP API of the store until SIGTERM or SIGINT. */
export async function server(context: Context, flags: ServerFlags): Promise<ExitStatus> {
  const { out, signal } = context
  const client = await context.client()
  const { server: started, url } = await listen(context, { client }, flags)
  out.print(out.json ? JSON.stringify({ url }) : url)
  await aborted(signal)
  await started.stop()
  return exit.done
}

/** Starts a server with the options of the config, and those of the flags over them. */
export async function listen(
  context: Context,
  { client }: Pick<ServerOptions, 'client'>,
  flags: ServerFlags,
): Promise<{ readonly server: Server; readonly url: string }> {
  const { config } = await context.located()
  const { port: usualPort, host: usualHost, ...options } = config?.value.server ?? {}
  const started = createServer({
    ...options,
    client,
    ...(flags.hosts === undefined || flags.hosts.length === 0 ? {} : { hosts: flags.hosts }),
    ...(flags.tokens === undefined ? {} : { auth: tokens(flags.tokens) }),
  })
  const port = flags.port === undefined ? usualPort : readWhole('--port', flags.port)
  const host = flags.host ?? usualHost
  const { url } = await started.listen({
    ...(port === undefined ? {} : { port }),
    ...(host === undefined ? {} : { host }),
  })
  return { server: started, url }
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
