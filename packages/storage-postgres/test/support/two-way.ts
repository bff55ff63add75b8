import type { ChildRun, OutgoingMessage, StorePort, Unit } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import { InterposedPool } from '../../../../test/support/interposed-pool.ts'
import type { TestDatabase } from '../../../../test/support/postgres-database.ts'
import { codeOf } from '../../src/faults.ts'
import { newRun, newUnit, open, order, type Standing } from './units.ts'

interface Options {
  readonly database: TestDatabase
  readonly units: number
  /** Stops at the first deadlock. */
  readonly isControl?: boolean
  /** Rewrites the statements, to take a guard out. */
  readonly rewrite?: (text: string) => string
}

interface Report {
  readonly units: number
  readonly deadlocks: number
  readonly refused: number
  /** Children that have ended, and messages about the end of one. */
  readonly ends: number
  readonly heard: number
  /** Acknowledged messages that are not there, and messages that are there twice. */
  readonly missing: number
  readonly twice: number
  /** Runs whose head or mail counter contradicts their rows. */
  readonly misfits: number
}

interface Owned extends Standing {
  readonly id: string
  mail: number
}

const connections = 4
const parents = 40

/**
 * Parents create children, children end and tell their parents, and all of them send one another signals, from four
 * connections at once. A parent and its children have different owners.
 */
export async function writeBothWays({ database, units, isControl, rewrite }: Options): Promise<Report> {
  let deadlocks = 0
  const pools = Array.from({ length: connections }, () => {
    const pool = new InterposedPool(database.url)
    pool.onQuery = async (sent, go, config) => {
      try {
        return await (rewrite === undefined ? go() : go({ ...config, text: rewrite(sent) }))
      } catch (error) {
        if (codeOf(error) === '40P01') deadlocks++
        throw error
      }
    }
    return pool
  })
  const ports = await Promise.all(pools.map((pool) => open(postgres({ pool }))))
  await ports[0]?.runs.create(Array.from({ length: parents }, (_, index) => newRun(`p${index}`)))
  let written = 0
  let refused = 0
  const acknowledged: string[] = []
  let children = 0

  async function work(port: StorePort, number: number): Promise<void> {
    const worker = await port.workers.register({ name: `w${number}`, leaseMs: 3_600_000 })
    const random = seededRandom(number)
    let owned: Owned[] = []
    while (written < units && !(isControl && deadlocks > 0)) {
      const { runs } = await port.claims.claim({ worker, procedures: [order] }, 6)
      owned.push(...runs.map(({ run, id, epoch, head, mail }) => ({ run, id, epoch, head, mail })))
      const batch: { readonly of: Owned; readonly unit: Unit; readonly names: string[] }[] = []
      const ids = new Set<string>()
      const targets = new Set<string>()
      for (const of of shuffle(owned, random).slice(0, 12)) {
        if (targets.has(of.id)) continue
        const creates: ChildRun[] = []
        const sends: OutgoingMessage[] = []
        const send = (run: string, kind: OutgoingMessage['kind']): boolean => {
          if (run === of.id || ids.has(run)) return false
          targets.add(run)
          const name = `${kind} of ${of.id} at ${of.head}`
          sends.push({ run, kind, name, key: null, by: null, payload: null, must: kind === 'signal' })
          return true
        }
        const choice = random()
        const isParent = of.id.startsWith('p')
        const parent = of.id.split('.')[1] ?? ''
        let next: Unit['next'] = { do: 'keep' }
        if (isParent && choice < 0.4) {
          for (let i = 0; i < 2; i++) {
            const { worker: _, ...run } = newRun(`c.${of.id}.${number}.${children++}`)
            creates.push({ ...run, parent: { run: of.id, position: 0 } })
          }
        } else if (isParent && choice < 0.6) send(`p${Math.floor(random() * parents)}`, 'signal')
        else if (isParent && choice < 0.8) next = { do: 'park', wakeAt: 1 }
        else if (!isParent && choice < 0.6 && send(parent, 'ended')) next = { do: 'end', state: 'completed' }
        else if (!isParent && choice < 0.8) send(parent, 'signal')
        ids.add(of.id)
        const effects = [
          ...creates.map((run) => ({ do: 'create-run', run }) as const),
          ...sends.map((message) => ({ do: 'send', message }) as const),
        ]
        const unit = { ...newUnit(of, { next, strict: next.do === 'end' }), effects }
        batch.push({ of, unit, names: sends.map(({ name }) => name) })
      }
      if (batch.length === 0) continue
      const outcomes = await port.log.commit(
        worker,
        batch.map(({ unit }) => unit),
      )
      for (const [index, { of, unit, names }] of batch.entries()) {
        const outcome = outcomes[index]
        written++
        if (outcome?.outcome === 'ok') {
          of.head++
          of.mail = outcome.mail
          acknowledged.push(...names)
          if (outcome.parked || unit.next.do === 'end') owned = owned.filter((one) => one !== of)
        } else if (outcome?.outcome === 'mail') of.mail = outcome.mail
        else if (outcome?.outcome === 'refused') refused++
        else throw new Error(`a unit was ${outcome?.outcome}`)
      }
    }
  }

  // The control may deadlock until its store gives up.
  await Promise.all(
    ports.map((port, number) =>
      work(port, number).catch((error: unknown) => {
        if (deadlocks === 0) throw error
      }),
    ),
  )
  const rows = await inspect(database)
  const stored = new Map<string, number>()
  for (const name of rows.names) stored.set(name, (stored.get(name) ?? 0) + 1)
  await Promise.all(ports.map((port) => port.close()))
  await Promise.all(pools.map((pool) => pool.end()))
  return {
    units: written,
    deadlocks,
    refused,
    ends: rows.ends,
    heard: rows.names.filter((name) => name.startsWith('ended')).length,
    missing: acknowledged.filter((name) => !stored.has(name)).length,
    twice: [...stored.values()].filter((count) => count > 1).length,
    misfits: rows.misfits,
  }
}

async function inspect(
  database: TestDatabase,
): Promise<{ readonly names: readonly string[]; readonly ends: number; readonly misfits: number }> {
  const messages = await database.owner.query<{ name: string }>('select name from pawl.messages')
  const counts = await database.owner.query<{ ends: number; misfits: number }>(`
    select (select count(*)::int from pawl.runs where id like 'c.%' and state <> 0) as ends,
      (select count(*)::int from pawl.runs r
       where head <> (select count(*) from pawl.events e where e.run = r.run)
          or mail <> coalesce((select max(n) from pawl.messages m where m.run = r.run), 0)) as misfits`)
  const [row] = counts.rows
  return { names: messages.rows.map(({ name }) => name), ends: row?.ends ?? -1, misfits: row?.misfits ?? -1 }
}

/** Takes the targets of messages out of the rows that are locked in order: the control. */
export function withoutTargetLocks(text: string): string {
  return text
    .replace(
      /where run = any\(\$2::bigint\[\]\) or id = any\(\$\d+::text\[\]\) order by run/,
      'where run = any($2::bigint[]) order by run',
    )
    .replaceAll(/left join locked t on t\.id = s\.id/g, 'left join "pawl"."runs" t on t.id = s.id')
    .replace(
      'join locked t on t.id = s.id and t.state = 0',
      'join "pawl"."runs" t on t.id = s.id and t.state = 0',
    )
}

function shuffle<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  return items
    .map((item) => [random(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)
}

function seededRandom(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return (state >>> 0) / 2 ** 32
  }
}
