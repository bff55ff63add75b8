import { topics } from '../../base/notifier.ts'
import { checkName } from '../../checks/options.ts'
import { checkAudience } from '../../checks/people.ts'
import { milliseconds, optional, readOptions, type Spec } from '../../checks/spec.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { StorePort } from '../../ports/store/store.ts'
import type { Connection } from '../connection.ts'
import { knownRun } from '../find-run.ts'
import type { NextFilter } from '../types.ts'
import { showAsk } from '../views/ask.ts'
import type { Ask } from '../views/views.ts'
import { findAsks } from './list.ts'

const nextOptions = {
  run: optional(checkName, null),
  to: optional((option, given) => [checkAudience(option, given)], null),
  timeout: optional(milliseconds, null),
} satisfies Spec<NextFilter>

export async function nextAsk(connection: Connection, given: unknown): Promise<Ask> {
  const { run, to, timeout } = readOptions('of inbox.next', given, nextOptions, 'the filter of inbox.next')
  const query = { status: 'open', run, to, procedure: null, kind: null, overdue: null } as const
  const look = async (): Promise<Ask | undefined> => {
    const store = await connection.store()
    const now = await store.now()
    for (let limit = 1; ; limit *= 4) {
      const rows = await findAsks(store, { ...query, now, after: null, limit })
      for (const row of rows) {
        const ask = showAsk(connection, row, now)
        if (ask !== null) return ask
      }
      if (rows.length < limit) break
    }
    if (query.run !== null) await checkCanAsk(connection, store, query.run)
    return undefined
  }
  // By run if possible: otherwise every wait would look whenever any ask opens.
  return connection.wait(query.run === null ? topics.asks : topics.asksOf(query.run), look, timeout)
}

/** Checks that a run can still ask; a run that does not exist yet can. @throws PawlError 'run-ended' */
async function checkCanAsk(connection: Connection, store: StorePort, run: string): Promise<void> {
  if (connection.localWorker?.holds(run)) return
  const row = await store.runs.find(run)
  const state = row === null ? 'live' : knownRun(row).state
  if (state === 'live') return
  throw new PawlError(
    'run-ended',
    { run, status: state },
    {
      next: 'It has no open ask and will not open one.',
      remedy: 'Start a run with a different id to be asked again.',
    },
  )
}
