import { readJson } from '../answers/read-answer.ts'
import type { Context } from '../context.ts'
import { type RunJson, segmentOf } from '../door/door.ts'
import { CommandError, interrupted } from '../door/problem.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { safe } from '../output/out.ts'
import { type Column, printRows } from '../output/table.ts'
import { readDuration } from './numbers.ts'
import { reportRun } from './watch-run.ts'

// The result, exposed values and updates of a run.

export interface ResultFlags {
  readonly timeout?: string
}

/** The server waits for at most a minute at a time. */
const longestWaitMs = 60_000

/** Prints the output of a run, or how it ended. With `--timeout` it waits for the end. */
export async function result(context: Context, id: string, { timeout }: ResultFlags): Promise<ExitStatus> {
  const until = Date.now() + (timeout === undefined ? 0 : readDuration('--timeout', timeout))
  const door = await context.door()
  const path = `/runs/${segmentOf(id)}`
  for (;;) {
    const left = Math.min(until - Date.now(), longestWaitMs)
    const run = await door.get<RunJson>(path, left <= 0 ? {} : { wait: `${left}ms` })
    if (run.endedAt !== undefined || left <= 0) return reportRun(context, door, run)
    if (context.signal.aborted)
      throw interrupted(`Interrupted. Run ${id} continues with the next worker.`, 'wait-timed-out')
  }
}

interface StateJson {
  readonly name: string
  readonly at: string
  readonly value?: unknown
}

const stateColumns: readonly Column<StateJson>[] = [
  { title: 'NAME', of: ({ name }) => name },
  { title: 'STORED', of: ({ at }) => at },
  { title: 'VALUE', of: ({ value }) => JSON.stringify(value) ?? '-' },
]

/** Prints the values that a run exposes, or one of them. */
export async function state(context: Context, id: string, name: string | undefined): Promise<ExitStatus> {
  const { out } = context
  const door = await context.door()
  const { items } = await door.get<{ readonly items: readonly StateJson[] }>(`/runs/${segmentOf(id)}/state`)
  if (name === undefined) {
    printRows(out, items, stateColumns, 'The run exposes nothing.')
    return exit.done
  }
  const found = items.find((one) => one.name === name)
  if (found === undefined)
    throw new CommandError({
      ...{ type: 'about:blank', title: 'not-found', status: 404, code: 'not-found' },
      detail: `Run ${id} exposes no ${name}. It exposes: ${items.map((one) => one.name).join(', ') || 'nothing'}.`,
    })
  out.print(out.json ? JSON.stringify(found) : safe(JSON.stringify(found.value) ?? ''))
  return exit.done
}

export interface UpdateFlags {
  readonly input?: string
  readonly key?: string
  readonly timeout?: string
}

/** Sends an update to a run and prints its reply. */
export async function update(
  context: Context,
  id: string,
  name: string,
  { input, key, timeout }: UpdateFlags,
): Promise<ExitStatus> {
  const { out, surroundings } = context
  const waitMs = timeout === undefined ? undefined : readDuration('--timeout', timeout)
  const body = input === undefined ? {} : { input: readJson('--input', input, surroundings.cwd) }
  const door = await context.door()
  const reply = await door.post<{ readonly output: unknown } | { readonly id: string }>(
    `/runs/${segmentOf(id)}/updates/${encodeURIComponent(name)}`,
    body,
    { query: { wait: waitMs === undefined ? undefined : `${waitMs}ms` }, idempotencyKey: key },
  )
  if ('output' in reply) {
    out.print(out.json ? JSON.stringify(reply) : safe(JSON.stringify(reply.output) ?? ''))
    return exit.done
  }
  throw new CommandError({
    ...{ type: 'about:blank', title: 'wait-timed-out', status: 504, code: 'wait-timed-out' },
    detail: `The update is stored, and run ${id} has not replied in time. Send it again with \`--key ${reply.id}\` for its reply.`,
  })
}

interface WorkerJson {
  readonly name: string
  readonly startedAt?: string
  readonly seenAt: string
  readonly runs: number
  readonly procedures: readonly { readonly name: string; readonly version: number }[]
}

const workerColumns: readonly Column<WorkerJson>[] = [
  { title: 'WORKER', of: ({ name }) => name },
  { title: 'STARTED', of: ({ startedAt }) => startedAt ?? '-' },
  { title: 'SEEN', of: ({ seenAt }) => seenAt },
  { title: 'RUNS', of: ({ runs }) => String(runs) },
  {
    title: 'PROCEDURES',
    of: ({ procedures }) => procedures.map(({ name, version }) => `${name} v${version}`).join(', ') || '-',
  },
]

/** Lists the live workers, oldest first. */
export async function workers(context: Context): Promise<ExitStatus> {
  const door = await context.door()
  const { items } = await door.get<{ readonly items: readonly WorkerJson[] }>('/workers')
  printRows(context.out, items, workerColumns, 'No live workers.')
  return exit.done
}
