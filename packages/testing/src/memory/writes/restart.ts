import { type KeptPast, type NewGeneration, staleKinds } from '@pawl/core/storage'
import { copy, headOf, type MessageRecord, type RunRecord, type StateRecord, type Tables } from '../tables.ts'
import { appendEvent } from './event.ts'

export function restartRuns(tables: Tables, generations: readonly NewGeneration[], at: number): boolean {
  const begun = generations.map((generation) => ({ generation, run: findEnded(tables, generation) }))
  if (begun.some(({ run }) => run === undefined)) return false
  for (const { generation, run } of begun) if (run !== undefined) begin(run, generation, at)
  return true
}

function findEnded({ runsByKey }: Tables, { run: key, head }: NewGeneration): RunRecord | undefined {
  const run = runsByKey.get(key)
  return run === undefined || run.state === 'live' || headOf(run) !== head ? undefined : run
}

function begin(run: RunRecord, generation: NewGeneration, at: number): void {
  const { head, version, started, link, tags, startedBy, info, kept } = generation
  for (const [name, state] of run.states) if (kept === null || isOf(run, state, kept)) run.states.delete(name)
  Object.assign(run, {
    ...{ state: 'live', mark: 'none', tries: 0, worker: null, wakeAt: at, epoch: run.epoch + 1, base: head },
    ...{ version, link: copy(link), tags: [...tags], startedBy, info: copy(info) },
    ...{ endedAt: null, cancelAt: kept?.cancelAt ?? null },
  })
  appendEvent(run, started, null, kept?.startedAt ?? at)
  for (const event of kept?.events ?? []) appendEvent(run, event, event.link, event.at)
  if (kept === null) {
    run.parent = null
    run.messages.forEach(drop)
    run.checkpoints.clear()
  } else {
    keepMail(run, kept, at)
    keepCheckpoints(run, kept)
  }
}

/** Whether the generation that has ended has exposed a value. */
function isOf({ base }: RunRecord, { at, seq }: StateRecord, { exposedUntil }: KeptPast): boolean {
  return at > exposedUntil || (seq !== null && seq > base)
}

function keepMail(run: RunRecord, { signals }: KeptPast, at: number): void {
  run.messages.filter(({ kind }) => staleKinds.includes(kind)).forEach(drop)
  for (const { name, by, payload } of signals) {
    run.mail++
    const signal = { n: run.mail, at, kind: 'signal', name, key: null, by, payload: copy(payload) } as const
    run.messages.push({ ...signal, isUsed: false })
  }
}

function keepCheckpoints({ checkpoints }: RunRecord, kept: KeptPast): void {
  const stay = new Map(kept.checkpoints.map(({ n, seq }) => [n, seq]))
  for (const [slot, row] of checkpoints) {
    const seq = stay.get(row.n)
    if (seq === undefined) checkpoints.delete(slot)
    else checkpoints.set(slot, { ...row, seq })
  }
}

function drop(message: MessageRecord): void {
  Object.assign(message, { isUsed: true, payload: null, key: null })
}
