import { existsSync, readFileSync } from 'node:fs'
import { decodePayload } from '@pawl/core/internal'
import Database from 'better-sqlite3'

/** What was acknowledged to the outside, and must therefore be there. */
export interface Acknowledged {
  readonly runs: Set<string>
  /** Who answered, by run. */
  readonly answers: Map<string, string>
  /** What was paid, by run. */
  readonly signals: Map<string, number>
}

export interface Findings {
  readonly problems: readonly string[]
  readonly events: number
  readonly effects: number
  /** Effects beyond the first of their step: a crash fell between effect and record. */
  readonly repeatedEffects: number
}

interface EventRow {
  readonly run: number
  readonly seq: number
  readonly epoch: number
  readonly type: number
  readonly position: number
  readonly name: string
  readonly failed: number
}
const settled = 3
const ended = 6

/** Reads database and ledger, past the engine, and says everything that is not as it was promised. */
export function check(file: string, ledger: string, acknowledged: Acknowledged): Findings {
  const database = new Database(file, { readonly: true })
  const problems: string[] = []
  const runs = database
    .prepare<[], { run: number; id: string; state: number; head: number; mark: number }>(
      'select run, id, state, head, mark from runs',
    )
    .all()
  const eventsOf = database.prepare<[number], EventRow>(
    'select run, seq, epoch, type, position, name, failed from events where run = ? order by seq',
  )
  const outputOf = database
    .prepare<[number, number], Uint8Array>('select payload from events where run = ? and seq = ?')
    .pluck()
  const effects = readLedger(ledger)
  let events = 0
  let repeatedEffects = 0

  for (const id of acknowledged.runs)
    if (!runs.some((run) => run.id === id)) problems.push(`run ${id} was acknowledged and is lost`)
  for (const { run, id, state, head, mark } of runs) {
    const log = eventsOf.all(run)
    events += log.length
    if (log.length !== head) problems.push(`run ${id} has head ${head} and ${log.length} events`)
    log.forEach((event, seq) => {
      if (event.seq !== seq) problems.push(`run ${id} has a gap at event ${seq}`)
      const before = log[seq - 1]
      if (before !== undefined && before.epoch > event.epoch)
        problems.push(`run ${id}: event ${seq} was written by a former owner`)
    })
    const results = log.filter(({ type }) => type === settled)
    if (new Set(results.map(({ position }) => position)).size !== results.length)
      problems.push(`run ${id} has two results of one operation`)
    if (state !== 1 || mark !== 0) problems.push(`run ${id} is not completed (state ${state}, mark ${mark})`)
    else if (log.at(-1)?.type !== ended || log.filter(({ type }) => type === ended).length !== 1)
      problems.push(`run ${id} does not end once`)
    else {
      const output = decodePayload(outputOf.get(run, head - 1) as Uint8Array) as {
        readonly by: string
        readonly cents: number
      }
      const by = acknowledged.answers.get(id)
      if (by !== undefined && output.by !== by)
        problems.push(`run ${id}: the answer of ${by} was acknowledged, that of ${output.by} counted`)
      const cents = acknowledged.signals.get(id)
      if (cents !== undefined && output.cents !== cents)
        problems.push(`run ${id}: ${cents} was acknowledged, ${output.cents} received`)
    }
    const own = effects.get(id) ?? new Map<string, string[]>()
    for (const { name } of results.filter(({ name }) => /^(a|bb|ccc|dddd|eeeee \w+)$/.test(name)))
      if (!own.has(name)) problems.push(`run ${id}: step ${name} is recorded and never had its effect`)
    for (const [step, keys] of own) {
      repeatedEffects += keys.length - 1
      if (new Set(keys).size !== 1) problems.push(`run ${id}: step ${step} had several idempotency keys`)
    }
    if (new Set([...own.values()].map(([key]) => key)).size !== own.size)
      problems.push(`run ${id}: two steps share an idempotency key`)
  }
  const isWhole = database.pragma('integrity_check', { simple: true })
  if (isWhole !== 'ok') problems.push(`the database is damaged: ${String(isWhole)}`)
  database.close()
  return {
    problems,
    events,
    effects: [...effects.values()].reduce((sum, steps) => sum + steps.size, 0),
    repeatedEffects,
  }
}

function readLedger(ledger: string): Map<string, Map<string, string[]>> {
  const effects = new Map<string, Map<string, string[]>>()
  const lines = existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []
  for (const line of lines.filter((text) => text !== '')) {
    const { run, step, key } = JSON.parse(line) as {
      readonly run: string
      readonly step: string
      readonly key: string
    }
    const steps = effects.get(run) ?? new Map<string, string[]>()
    effects.set(run, steps.set(step, [...(steps.get(step) ?? []), key]))
  }
  return effects
}
