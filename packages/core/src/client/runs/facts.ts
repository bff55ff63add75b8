import type { LogEvent, OperationKind } from '../../events/event.ts'
import { decode } from '../../events/payload.ts'
import { type KnownRun, understand } from '../../ports/rows.ts'
import type { RunSurvey } from '../../ports/store/runs.ts'
import type { StorePort } from '../../ports/store/store.ts'
import type { Connection } from '../connection.ts'
import { firstOfBlock, readGeneration, readLogPages } from '../log/pages.ts'
import type { AskCount } from '../types.ts'
import type { RunFacts, RunOwner, RunUsage } from '../views/views.ts'
import { possibilitiesOf } from './possible.ts'

/** No number of {@link RunFacts} is counted beyond this. */
const most = 1_000

/**
 * Reads what stands around a run: who owns it, what belongs to it, what its agents have used, and what can be done with it.
 * @throws PayloadCorrupt, RowCorrupt, WrittenLater, LogDamaged
 */
export async function readFacts(connection: Connection, row: KnownRun): Promise<RunFacts> {
  const store = await connection.store()
  const [survey, openAsks, tail, { firstPosition }, can] = await Promise.all([
    store.runs.survey(row.run, row.id, most),
    countOpen(store, row),
    readTail(connection, store, row),
    readGeneration(store, row),
    possibilitiesOf(store, row),
  ])
  const positions = [...tail.events.map(({ position }) => position), firstPosition - 1]
  return {
    owner: survey.owner === null ? undefined : showOwner(survey.owner),
    entries: Math.max(...positions) + 1 - firstPosition,
    openAsks,
    children: countChildren(survey.children),
    usage: { ...understand(() => addUsage(tail.events)), capped: tail.isCut },
    can,
  }
}

function showOwner({ name, beatAt, leaseMs }: NonNullable<RunSurvey['owner']>): RunOwner {
  return { worker: name, seenAt: new Date(beatAt), leaseEndsAt: new Date(beatAt + leaseMs) }
}

async function countOpen(store: StorePort, { id }: KnownRun): Promise<AskCount> {
  const count = await store.asks.count(
    {
      ...{ run: id, status: 'open', to: null, procedure: null, kind: null, overdue: null, lapsed: false },
      now: await store.now(),
    },
    most + 1,
  )
  return { count: Math.min(count, most), capped: count > most }
}

function countChildren(byStatus: RunSurvey['children']): RunFacts['children'] {
  const count = Object.values(byStatus).reduce((sum, one) => sum + one, 0)
  return { byStatus, capped: count === most }
}

/** Reads the newest events of the present generation, verified. */
async function readTail(
  { sha256 }: Connection,
  store: StorePort,
  row: KnownRun,
): Promise<{ readonly events: readonly LogEvent[]; readonly isCut: boolean }> {
  const from = firstOfBlock(Math.max(row.base, row.head - most), row.base)
  const events: LogEvent[] = []
  for await (const page of readLogPages(store, sha256, row, from)) events.push(...page)
  return { events, isCut: from > row.base }
}

/** The kinds of operations whose results say what agents have used. */
const agentKinds: readonly (OperationKind | null)[] = ['llm', 'ail_decision']

/** Adds up the reports of calls. The result of a call has the usage of all its attempts, so that these count only before it. */
function addUsage(events: readonly LogEvent[]): Omit<RunUsage, 'capped'> {
  const reports = new Map<number, readonly object[]>()
  let calls = 0
  for (const { type, kind, position, payload } of events) {
    if (!agentKinds.includes(kind) || (type !== 'attempted' && type !== 'settled')) continue
    const { usage = [] } = decode(payload) as { readonly usage?: readonly object[] }
    if (type === 'settled') calls++
    reports.set(position, type === 'settled' ? usage : [...(reports.get(position) ?? []), ...usage])
  }
  const all = [...reports.values()].flat() as readonly Readonly<Record<string, unknown>>[]
  const sum = (amount: string): number =>
    all.reduce((total, report) => total + (Number(report[amount]) || 0), 0)
  return {
    calls,
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    costUsd: sum('costUsd'),
  }
}
