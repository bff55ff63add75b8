import type { NewMessage, StorePort, UnitOutcome } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MutantPool } from '../../../test/support/mutant-pool.ts'
import { changeUrl, empty, makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { type Fate, TcpProxy } from '../../../test/support/tcp-proxy.ts'
import { swallowCommits } from './support/swallowed-commits.ts'
import {
  bytes,
  createOwned,
  newAsk,
  newRun,
  newUnit,
  open,
  order,
  type Standing,
  until,
} from './support/units.ts'

let database: TestDatabase
let proxy: TcpProxy
let port: StorePort
let worker: number
beforeAll(async () => {
  database = await makeDatabase()
  proxy = await TcpProxy.start({ targetPort: Number(new URL(database.url).port) })
  port = await open(postgres(changeUrl(database.url, { port: proxy.port })))
})
afterAll(async () => {
  await port.close()
  await proxy.stop()
  await database.remove()
})
const soon = () => new Promise((resolve) => setTimeout(resolve, 20))
beforeEach(async () => {
  proxy.delay = soon
  worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
})
afterEach(async () => {
  proxy.decide = () => 'pass'
  await empty(database.owner, 'pawl')
})

describe('a commit whose reply is lost', () => {
  const shapes = {
    'of a single step': {},
    'of a message received': { consumes: [1] },
    'of several tables': { info: bytes('x'), opens: [newAsk(0)] },
  }
  for (const [shape, overrides] of Object.entries(shapes)) {
    test(`a commit with a lost reply of ${shape} is found to have landed`, async () => {
      const [a] = await createRuns()
      failOnce('swallow', isCommit)
      const outcome = await commit(a, overrides)
      expect(outcome).toMatchObject({ outcome: 'ok', epoch: 2, parked: false })
      const [event] = await port.log.load(a.run, 1, 10)
      expect(event).toMatchObject({ seq: 1, epoch: 1, at: outcome.outcome === 'ok' ? outcome.at : 0 })
      // The old epoch is worth nothing any more, the new one is.
      expect(await commit({ ...a, head: 2 })).toEqual({ outcome: 'fenced' })
      expect(await commit({ ...a, head: 2, epoch: 2 })).toMatchObject({ outcome: 'ok', epoch: 2 })
    })

    for (const fate of ['lose', 'late'] as const) {
      test(`a commit with a lost reply of ${shape} that ${fate === 'lose' ? 'never arrives' : 'arrives too late'} is lost, and never lands`, async () => {
        const [a] = await createRuns()
        let arrive = (): void => {}
        const isTooLate = new Promise<void>((resolve) => {
          arrive = resolve
        })
        proxy.delay = () => isTooLate
        failOnce(fate, isCommit)
        expect(await commit(a, overrides)).toEqual({ outcome: 'lost', epoch: 2 })
        arrive()
        await new Promise((resolve) => setTimeout(resolve, 100))
        expect(await port.log.load(a.run, 1, 10)).toEqual([])
        expect(await commit({ ...a, epoch: 2 }, overrides)).toMatchObject({ outcome: 'ok' })
      })
    }
  }

  test('a commit with a lost reply that parked its run is known as parked', async () => {
    const [a] = await createRuns()
    failOnce('swallow', isCommit)
    expect(await commit(a, { next: { do: 'park', wakeAt: null } })).toMatchObject({
      outcome: 'ok',
      parked: true,
    })
    expect(await port.runs.find('a')).toMatchObject({ owned: false, wakeAt: null, head: 2 })
  })

  test('a commit with a lost reply that ended its run is known as ended', async () => {
    const [a] = await createRuns()
    failOnce('swallow', isCommit)
    const outcome = await commit(a, { next: { do: 'end', state: 'completed' } })
    expect(outcome).toMatchObject({ outcome: 'ok', parked: false })
    expect(await port.runs.find('a')).toMatchObject({ state: 'completed' })
  })

  test('a commit with a lost reply whose run was claimed by another worker has landed, and the run is not kept', async () => {
    const [a] = await createRuns()
    proxy.decide = (text) => {
      if (!isCommit(text)) return 'pass'
      proxy.decide = (text) => (isReclaim(text) ? 'lose' : 'pass')
      return 'swallow'
    }
    const outcome = commit(a)
    await until(async () => (await countEvents()) === 2)
    await database.owner.query('update pawl.runs set worker = 4711, epoch = epoch + 1')
    proxy.decide = () => 'pass'
    expect(await outcome).toMatchObject({ outcome: 'ok', epoch: 1 })
    expect(await commit({ ...a, head: 2 })).toEqual({ outcome: 'fenced' })
  })

  test('a commit that never arrived, while another worker claimed the run, is fenced', async () => {
    const [a] = await createRuns()
    proxy.decide = (text) => {
      if (!isCommit(text)) return 'pass'
      proxy.decide = (text) => (isReclaim(text) ? 'lose' : 'pass')
      return 'lose'
    }
    const outcome = commit(a)
    // The new owner has already written where the old one would have.
    await database.owner.query(`
      update pawl.runs set worker = 4711, epoch = epoch + 1, head = head + 1;
      insert into pawl.events (run, at, seq, epoch, position, turn, nth, type, failed, name)
        select run, 0, 1, 2, 0, 0, 0, 1, false, 'of another' from pawl.runs`)
    proxy.decide = () => 'pass'
    expect(await outcome).toEqual({ outcome: 'fenced' })
  })

  test('a commit with a lost reply whose log matches neither before nor after it is a conflict', async () => {
    const [a] = await createRuns()
    proxy.decide = (text) => {
      if (!isCommit(text)) return 'pass'
      proxy.decide = (text) => (isReclaim(text) ? 'lose' : 'pass')
      return 'lose'
    }
    const outcome = commit(a)
    // By a hand at the tables, or a restored copy: the run is still this worker's, as far as anybody can see.
    await database.owner.query('update pawl.runs set head = head + 5')
    proxy.decide = () => 'pass'
    expect(await outcome).toEqual({ outcome: 'conflict' })
    expect(await port.runs.find('a')).toMatchObject({ owned: true, head: 6 })
  })

  test('the outcome of a commit is determined even if later replies are lost too', async () => {
    const [a, b] = await createRuns()
    let losses = 0
    proxy.decide = (text) =>
      (isCommit(text) && losses === 0) || isReclaim(text) ? (losses++ < 4 ? 'swallow' : 'pass') : 'pass'
    const outcomes = await port.log.commit(worker, [newUnit(a), newUnit(b)])
    expect(losses).toBeGreaterThanOrEqual(4)
    for (const outcome of outcomes) expect(outcome).toMatchObject({ outcome: 'ok', parked: false })
    const epochs = outcomes.map((outcome) => (outcome.outcome === 'ok' ? outcome.epoch : 0))
    expect(epochs).toEqual([5, 5])
    expect(await commit({ ...a, head: 2, epoch: 5 })).toMatchObject({ outcome: 'ok' })
  })

  test('the outcome of a commit is final: a late query changes nothing', async () => {
    const [a] = await createRuns()
    const fates: Fate[] = ['lose', 'late']
    proxy.decide = (text) =>
      isCommit(text) ? 'swallow' : isReclaim(text) ? (fates.shift() ?? 'pass') : 'pass'
    expect(await commit(a)).toMatchObject({ outcome: 'ok', epoch: 4 })
    proxy.decide = () => 'pass'
    await settle()
    expect(await commit({ ...a, head: 2, epoch: 4 })).toMatchObject({ outcome: 'ok' })
  })

  test('the outcome of a unit without events is known by the released run', async () => {
    const [a] = await createRuns()
    failOnce('swallow', isCommit)
    const outcome = await commit(a, { events: [], next: { do: 'park', wakeAt: null } })
    expect(outcome).toMatchObject({ outcome: 'ok', parked: true })
  })

  test('a run is not claimed by the same worker before the outcome of its commit is known', async () => {
    const [a] = await createRuns()
    proxy.decide = (text) => {
      if (!isCommit(text)) return 'pass'
      proxy.decide = (text) => (isReclaim(text) ? 'lose' : 'pass')
      return 'swallow'
    }
    const outcome = commit(a, { next: { do: 'park', wakeAt: 1 } })
    await until(async () => (await countEvents()) === 2)
    expect((await port.claims.claim({ worker, procedures: [order] }, 10)).runs).toEqual([])
    proxy.decide = () => 'pass'
    expect(await outcome).toMatchObject({ outcome: 'ok', parked: true })
    expect((await port.claims.claim({ worker, procedures: [order] }, 10)).runs).toMatchObject([{ id: 'a' }])
  })
})

describe('other calls whose reply is lost', () => {
  for (const fate of ['swallow', 'late', 'lose'] as const) {
    test(`a run whose reply is lost is created once (${fate})`, async () => {
      failOnce(fate, (text) => text.includes('described as'))
      expect(await port.runs.create([newRun('a', { worker })])).toMatchObject([{ outcome: 'created' }])
      expect(await port.runs.create([newRun('a', { worker })])).toMatchObject([{ outcome: 'exists' }])
      await settle()
      expect(await countEvents()).toBe(1)
    })

    for (const count of [1, 2])
      test(`${count} messages without a key whose reply is lost are stored once (${fate})`, async () => {
        await createRuns()
        failOnce(fate, isSend)
        const message: NewMessage = {
          ...{ run: 'a', kind: 'signal', name: 's', key: null, by: null, payload: bytes('1') },
        }
        const sent = await port.mail.send(Array<NewMessage>(count).fill(message), null)
        expect(sent.map(({ outcome }) => outcome)).toEqual(Array(count).fill('stored'))
        await settle()
        expect(await port.runs.find('a')).toMatchObject({ mail: count })
        expect(await port.mail.list((await port.runs.find('a'))?.run ?? 0, 0)).toHaveLength(count)
        // What an attempt that was not heard of has left is not told.
        const reported = sent.map((one) => 'message' in one && one.message?.n)
        if (fate !== 'late') expect(reported.at(-1)).toBe(fate === 'lose' ? count : undefined)
      })

    test(`an answer whose reply is lost wins once, and its sender is told so (${fate})`, async () => {
      const [a] = await createRuns()
      await commit(a, { opens: [newAsk(0)] })
      failOnce(fate, isAnswer)
      const answer = { run: 'a', position: 0, by: 'user:ann', payload: bytes('yes') }
      expect(await port.asks.answer([answer], null)).toMatchObject([{ outcome: 'answered' }])
      expect(await port.asks.answer([answer], null)).toMatchObject([{ outcome: 'closed' }])
      await settle()
      expect(await port.runs.find('a')).toMatchObject({ mail: 1 })
    })

    test(`a mark whose reply is lost is set, and the owner is told so (${fate})`, async () => {
      const [a] = await createRuns()
      failOnce(fate, (text) => text.includes('marked as'))
      expect(await port.runs.mark(worker, a.run, 1, 'stuck', bytes('why'))).toBe(true)
      expect(await port.runs.mark(worker, a.run, 1, 'stuck', bytes('why'))).toBe(false)
      expect(await port.runs.find('a')).toMatchObject({ mark: 'stuck', owned: false })
    })
  }

  test('an answer repeated while the first attempt still waits is recognised as the same', async () => {
    const [a] = await createRuns()
    await commit(a, { opens: [newAsk(0)] })
    const impatient = await TcpProxy.start({ targetPort: proxy.targetPort, delay: async () => {} })
    const answering = await open(postgres(changeUrl(database.url, { port: impatient.port })))
    const other = await database.owner.connect()
    await other.query('begin')
    await other.query('select from pawl.runs for no key update')
    impatient.decide = (text) => {
      if (!isAnswer(text)) return 'pass'
      impatient.decide = () => 'pass'
      return 'late'
    }
    const answered = answering.asks.answer(
      [{ run: 'a', position: 0, by: 'user:ann', payload: bytes('yes') }],
      null,
    )
    await until(async () => {
      const { rows } = await database.owner.query(
        `select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock'`,
      )
      return rows[0].count === 2
    })
    await other.query('commit')
    other.release()
    expect(await answered).toMatchObject([{ outcome: 'answered' }])
    await answering.close()
    await impatient.stop()
  })

  const ways = {
    claiming: () => port.claims.claim({ worker, procedures: [order] }, 10),
    sending: () =>
      port.mail.send([{ run: 'a', kind: 'signal', name: 's', key: null, by: null, payload: null }], {
        worker,
        procedures: [order],
      }),
  }
  for (const [way, call] of Object.entries(ways)) {
    test(`a run that was claimed by ${way} with a lost reply is returned by a later claim`, async () => {
      await port.runs.create([newRun('a')])
      failOnce('swallow', (text) => isClaim(text) || isSend(text))
      await call().catch(() => {})
      expect(await port.runs.find('a')).toMatchObject({ owned: true })
      const runs: unknown[] = []
      await until(async () => {
        runs.push(...(await port.claims.claim({ worker, procedures: [order] }, 10)).runs)
        return runs.length > 0
      })
      expect(runs).toMatchObject([{ id: 'a', epoch: 3, head: 1 }])
      // Handed over once.
      expect((await port.claims.claim({ worker, procedures: [order] }, 10)).runs).toEqual([])
      expect((await port.claims.claim({ worker, procedures: [order] }, 10)).runs).toEqual([])
    })
  }

  test('a claim that found such a run and then failed leaves it to the next', async () => {
    await port.runs.create([newRun('a')])
    failOnce('swallow', isClaim)
    await port.claims.claim({ worker, procedures: [order] }, 10).catch(() => {})
    let handedOver = 0
    proxy.decide = (text) => {
      if (text.includes('with stray as')) handedOver++
      return isClaim(text) && handedOver === 1 ? 'lose' : 'pass'
    }
    const runs: unknown[] = []
    await until(async () => {
      runs.push(
        ...(await port.claims.claim({ worker, procedures: [order] }, 10).catch(() => ({ runs: [] }))).runs,
      )
      return runs.length > 0
    })
    expect(handedOver).toBe(2)
    expect(runs).toMatchObject([{ id: 'a', epoch: 4, head: 1 }])
  })
})

test('a bad network loses, repeats and invents no commit', async () => {
  const report = await swallowCommits({ port, proxy, worker, runs: 40, unknown: 80 })
  expect(await report.ledger.compare(database.owner)).toEqual({ lost: 0, foreign: 0, gaps: 0 })
})

test('control: a store that read instead of claiming again would call a late commit lost', async () => {
  const [a] = await createRuns()
  let arrive = (): void => {}
  const isLooked = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const late = await TcpProxy.start({
    targetPort: proxy.targetPort,
    delay: () => isLooked,
    decide: (text) => (isCommit(text) ? 'late' : 'pass'),
  })
  const mutant = new MutantPool(changeUrl(database.url, { port: late.port }), (text) =>
    isReclaim(text) ? text.replace('set epoch = m.next_epoch', 'set epoch = r.epoch') : text,
  )
  const careless = await open(postgres({ pool: mutant }))
  expect(await careless.log.commit(worker, [newUnit(a)])).toEqual([{ outcome: 'lost', epoch: 1 }])
  expect(await countEvents()).toBe(1)
  arrive()
  await until(async () => (await countEvents()) === 2)
  await careless.close()
  await mutant.end()
  await late.stop()
})

async function createRuns(): Promise<[Standing, Standing]> {
  return (await createOwned(port, worker, ['a', 'b'])) as [Standing, Standing]
}

async function commit(
  standing: Standing,
  overrides: Parameters<typeof newUnit>[1] = {},
): Promise<UnitOutcome> {
  const [outcome] = await port.log.commit(worker, [newUnit(standing, overrides)])
  if (!outcome) throw new Error('a commit without an outcome')
  return outcome
}

/** What happens to the next request of that kind. */
function failOnce(fate: Fate, isIt: (text: string) => boolean): void {
  proxy.decide = (text) => {
    if (!isIt(text)) return 'pass'
    proxy.decide = () => 'pass'
    return fate
  }
}

function isCommit(text: string): boolean {
  return text.includes('judged as') || text.includes('set head = head + 1')
}

function isSend(text: string): boolean {
  return text.includes('insert into "pawl"."messages"') && !isAnswer(text)
}

function isAnswer(text: string): boolean {
  return text.includes('insert into "pawl"."messages"') && text.includes('answered_by')
}

function isClaim(text: string): boolean {
  return text.includes('claimed as')
}

function isReclaim(text: string): boolean {
  return text.includes('raised as')
}

/** Whatever was on its way has arrived. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 60))
}

async function countEvents(): Promise<number> {
  const { rows } = await database.owner.query(`select count(*)::int as count from pawl.events where run =
    (select min(run) from pawl.runs)`)
  return rows[0].count
}
