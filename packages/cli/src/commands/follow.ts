import type { Context } from '../context.ts'
import { type AskJson, type Door, type LogEntryJson, type RunJson, segmentOf } from '../door/door.ts'
import { CommandError } from '../door/problem.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { askColumns, logColumns, showRun } from '../output/show.ts'
import { type Column, printRow } from '../output/table.ts'

// `--follow` reads the streams of the API and prints their events.

interface RunEvent {
  readonly entry?: LogEntryJson
}

/** Prints the log of a run, oldest entries first, and each entry again as it changes, until the run ends. */
export async function followLog(
  { out, signal }: Context,
  door: Door,
  id: string,
  onlyFailed: boolean,
): Promise<ExitStatus> {
  for await (const entry of entriesOf(door, id, signal))
    if (!onlyFailed || entry.status === 'failed') printRow(out, entry, logColumns)
  return signal.aborted ? exit.interrupted : exit.done
}

/** Prints the entries of a run on stderr while it is watched; with `--json`, each as a line on stdout. */
export async function printEntries(
  { out, signal }: Context,
  door: Door,
  id: string,
  watched: Promise<unknown>,
): Promise<void> {
  const settled = new AbortController()
  const settle = (): void => settled.abort()
  watched.then(settle, settle)
  const printed = new Set<string>()
  const print = (entry: LogEntryJson): void => {
    const state = `${entry.position} ${entry.status}`
    if (printed.has(state)) return
    printed.add(state)
    printRow(out, entry, logColumns, out.json ? out.print : out.note)
  }
  for await (const entry of entriesOf(door, id, AbortSignal.any([signal, settled.signal]))) print(entry)
  // The stream was closed when the run settled, maybe before it sent the last entries.
  const path = `/runs/${segmentOf(id)}/log`
  const { items } = await door.get<{ readonly items: readonly LogEntryJson[] }>(path, { limit: '100' })
  for (const entry of [...items].reverse()) print(entry)
}

async function* entriesOf(door: Door, id: string, signal: AbortSignal): AsyncGenerator<LogEntryJson> {
  for await (const { data } of door.follow(`/runs/${segmentOf(id)}/events`, {}, signal)) {
    const { entry } = data as RunEvent
    if (entry !== undefined) yield entry
  }
}

/** Prints a run, and again each time it has changed, until it ends. */
export async function followRun({ out, signal }: Context, door: Door, id: string): Promise<ExitStatus> {
  const path = `/runs/${segmentOf(id)}`
  const ended = new AbortController()
  const either = AbortSignal.any([signal, ended.signal])
  let shown = ''
  const look = async (): Promise<void> => {
    const run = await door.get<RunJson>(path, { values: 'true' })
    const now = JSON.stringify(run)
    if (now !== shown) {
      if (shown !== '' && !out.json) out.print('')
      showRun(out, run)
    }
    shown = now
    if (run.endedAt !== undefined) ended.abort()
  }
  await look()
  // The log does not tell of a run that is stuck or quarantined; the feed of the store does.
  const followEvents = async (): Promise<void> => {
    for await (const _event of door.follow(`${path}/events`, {}, either)) await look()
    if (!either.aborted) await look()
  }
  const followFeed = async (): Promise<void> => {
    const only = 'run.stuck,run.quarantined'
    for await (const { data } of door.follow('/events', { only }, either))
      if ((data as { readonly run?: string }).run === id) await look()
  }
  if (!ended.signal.aborted) await Promise.all([followEvents(), followFeed()])
  return signal.aborted ? exit.interrupted : exit.done
}

interface FollowedAsk extends AskJson {
  readonly event: string
}

const followedColumns: readonly Column<FollowedAsk>[] = [
  { title: 'EVENT', of: ({ event }) => event },
  ...askColumns,
]

export interface FollowInboxFlags {
  readonly mine?: boolean
  readonly to?: string
  readonly run?: string
  readonly overdue?: boolean
}

/** Prints the open asks, and then each ask as it is opened or closed, until it is interrupted. */
export async function followInbox(
  { out, signal }: Context,
  door: Door,
  { mine, to, run, overdue }: FollowInboxFlags,
): Promise<ExitStatus> {
  const query = { only: 'ask.opened,ask.closed', open: '1' }
  const own = mine === true ? await namesOf(door) : undefined
  for await (const { event = '', data } of door.follow('/events', query, signal)) {
    const ask = await findAsk(door, (data as { readonly ask?: string }).ask)
    const isWanted =
      ask !== undefined &&
      (own === undefined || ask.to.length === 0 || ask.to.some((name) => own.includes(name))) &&
      (to === undefined || ask.to.includes(to)) &&
      (run === undefined || ask.run === run) &&
      (overdue !== true || ask.overdue)
    if (isWanted) printRow<FollowedAsk>(out, { event, ...ask }, followedColumns)
  }
  return signal.aborted ? exit.interrupted : exit.done
}

/** The names of the caller. */
async function namesOf(door: Door): Promise<readonly string[]> {
  const { actor, names } = await door.get<{ readonly actor: string; readonly names: readonly string[] }>(
    '/me',
  )
  return [actor, ...names]
}

/** Undefined if it is gone: its run was deleted since. */
async function findAsk(door: Door, id: string | undefined): Promise<AskJson | undefined> {
  if (id === undefined) return undefined
  try {
    return await door.get<AskJson>(`/asks/${segmentOf(id)}`)
  } catch (error) {
    if (error instanceof CommandError && error.status === exit.notFound) return undefined
    throw error
  }
}
