import { createClient } from '@pawl/core'
import { type Acknowledged, type Findings, findProblems } from '../check.ts'
import { type Killed, killAtWrites } from '../kill-at-every-write.ts'
import { openStore } from '../open-store.ts'
import type { EventRow, Place, Rows, RunRow } from '../place.ts'
import type { KillMoment } from '../sabotage.ts'
import { makeRelease, undoable } from './release.ts'

const [settled, ended] = [3, 6]
const [stepKind, undoKind] = [0, 11]

/**
 * Runs a gate and a plan that is undone once for every write of a worker, which kills itself around that write, and lets a second
 * one finish. `isCareless`: the action is no step, the control.
 */
export function killConsents(
  makePlace: () => Promise<Place>,
  when: KillMoment,
  { step = 1, isCareless = false }: { readonly step?: number; readonly isCareless?: boolean } = {},
): Promise<Killed> {
  const drive = (location: string, acknowledged: Acknowledged) =>
    driveRelease(location, acknowledged, isCareless)
  return killAtWrites({ makePlace, when, step, run: { drive, check: checkReleases } })
}

/** Says yes to both questions, and waits for the end. */
async function driveRelease(
  location: string,
  acknowledged: Acknowledged,
  isCareless: boolean,
): Promise<void> {
  const client = createClient({ store: openStore(location) })
  const run = await client.run(makeRelease(''), { isCareless }, { id: 'release' })
  acknowledged.runs.add(run.id)
  for (const key of ['pay', 'post']) {
    const ask = await client.inbox.next({ run: run.id })
    if (ask.key !== key) throw new Error(`asked is ${ask.key}, and not ${key}`)
    await client.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
  }
  await run.result()
  await client.stop()
}

/** Looks through what is stored of releases, and what was done for them. */
export function checkReleases(rows: Rows, ledger: string, acknowledged: Acknowledged): Findings {
  return findProblems(rows, ledger, acknowledged, {
    nameOf: ({ kind, name }) =>
      kind === undoKind ? `undo ${name}` : kind === stepKind && !name.includes(' · ') ? name : null,
    checkEnd: (run, log) => [...checkEnd(run, log), ...checkConsents(log), ...checkUndos(log)],
  })
}

function checkEnd({ state, mark }: RunRow, log: readonly EventRow[]): string[] {
  const ends = log.filter(({ type }) => type === ended).length
  return state === 1 && mark === 0 && ends === 1
    ? []
    : [`it does not end once (state ${state}, mark ${mark})`]
}

/** Each action has one yes, and comes after it. */
function checkConsents(log: readonly EventRow[]): string[] {
  const seqsOf = (name: string): readonly number[] =>
    log
      .filter(({ type, kind, name: own }) => type === settled && kind !== undoKind && own === name)
      .map(({ seq }) => seq)
  return ['pay · approve', 'post · approve', 'mail · decide'].flatMap((question) => {
    const action = question.split(' · ')[0] as string
    const [yes, acts] = [seqsOf(question), seqsOf(action)]
    // The careless one has neither.
    if (action === 'pay' && yes.length === 0) return []
    return yes.length === 1 && acts.length === 1 && (yes[0] as number) < (acts[0] as number)
      ? []
      : [`${action} has ${yes.length} consents and ${acts.length} results`]
  })
}

/** Everything that the verification looked at is undone once, in the reverse order of the log. */
function checkUndos(log: readonly EventRow[]): string[] {
  const isUndoable = (name: string): boolean => (undoable as readonly string[]).includes(name)
  const named = (wanted: number): readonly string[] =>
    log
      .filter(({ type, kind, name }) => type === settled && kind === wanted && isUndoable(name))
      .map(({ name }) => name)
  const [done, undone] = [named(stepKind).toReversed(), named(undoKind)]
  return done.join() === undone.join() && done.length === undoable.length
    ? []
    : [`undone is [${undone.join(', ')}], and should be [${done.join(', ')}]`]
}
