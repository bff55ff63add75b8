import { expect, test } from 'vitest'
import { type Chore, type ChoreParts, Chores, listChores } from '../../src/worker/chores.ts'
import { ManualClock, settled } from './support/manual-clock.ts'

function chore(name: string, everyMs: number, run: Chore['run'], firstMs?: number): Chore {
  return { name, everyMs, run, ...(firstMs === undefined ? {} : { firstMs }) }
}

test('runs each chore on a timer of its own', async () => {
  const clock = new ManualClock()
  const ran: string[] = []
  const noting = (name: string) => () => void ran.push(`${name} at ${clock.elapsed()}`)
  const chores = new Chores(clock, [chore('a', 20, noting('a')), chore('b', 35, noting('b'), 10)], (error) =>
    expect.fail(String(error)),
  )
  chores.start()
  await clock.pass(60)
  expect(ran).toEqual(['b at 10', 'a at 20', 'a at 40', 'b at 45', 'a at 60'])
})

test('runs a chore again only after it has ended', async () => {
  const clock = new ManualClock()
  let begun = 0
  let end = (): void => {}
  const run = (): Promise<void> => {
    begun++
    return new Promise((resolve) => {
      end = resolve
    })
  }
  new Chores(clock, [chore('slow', 10, run)], (error) => expect.fail(String(error))).start()
  await clock.pass(100)
  expect(begun).toBe(1)
  end()
  await settled()
  await clock.pass(10)
  expect(begun).toBe(2)
})

test('reports a failure and runs the chore again, whether it throws or rejects', async () => {
  const clock = new ManualClock()
  const errors: string[] = []
  const failing = (name: string): Chore['run'] =>
    name === 'throws'
      ? () => {
          throw new Error('no')
        }
      : () => Promise.reject(new Error('no'))
  const failures = ['throws', 'rejects'].map((name) => chore(name, 10, failing(name)))
  const onError = (error: unknown, { name }: Chore) => errors.push(`${name}: ${(error as Error).message}`)
  new Chores(clock, failures, onError).start()
  await clock.pass(20)
  expect(errors).toEqual(['throws: no', 'rejects: no', 'throws: no', 'rejects: no'])
})

test('runs nothing after it is stopped, not even after a chore in progress', async () => {
  const clock = new ManualClock()
  let ran = 0
  let end = (): void => {}
  const slow = chore('slow', 10, () => {
    ran++
    return new Promise((resolve) => {
      end = resolve
    })
  })
  const chores = new Chores(clock, [slow, chore('other', 15, () => void ran++)], () => expect.fail())
  chores.start()
  await clock.pass(10)
  chores.stop()
  end()
  await clock.pass(100)
  chores.start()
  expect(ran).toBe(1)
  expect(clock.timers).toBe(0)
})

test('runs chores for hints at each hint, beside their timers', async () => {
  const clock = new ManualClock()
  const ran: string[] = []
  const errors: unknown[] = []
  const hinted: Chore = {
    ...chore('hinted', 10, () => void ran.push('hinted')),
    onHint: true,
  }
  const failing: Chore = { ...chore('failing', 10, () => Promise.reject(new Error('no'))), onHint: true }
  const chores = new Chores(
    clock,
    [hinted, failing, chore('other', 10, () => void ran.push('other'))],
    (error) => errors.push(error),
  )
  chores.start()
  chores.onHint()
  chores.onHint()
  await settled()
  expect(ran).toEqual(['hinted', 'hinted'])
  expect(errors).toHaveLength(2)
  expect(clock.timers).toBe(3)
})

/** The chores of a worker whose parts record what is called. */
function chores(
  answers: { readonly renew?: boolean; readonly sweep?: number; readonly stuck?: number } = {},
) {
  const calls: string[] = []
  const call =
    <T>(name: string, value: T) =>
    (): Promise<T> => {
      calls.push(name)
      return Promise.resolve(value)
    }
  const parts = {
    store: {
      workers: { sweep: call('sweep', answers.sweep ?? 0) },
      claims: { backlog: call('backlog', []) },
    },
    clock: new ManualClock(),
    logger: { warn: () => calls.push('warn') },
    leaseMs: 10_000,
    lease: { renew: call('renew', answers.renew ?? true), register: call('register', undefined) },
    claims: { claim: call('claim', undefined), claimant: { worker: 1, procedures: [] } },
    runs: { readMailCounters: call('mail', undefined), dropOwned: () => void calls.push('drop') },
    slots: { look: () => void calls.push('look'), releases: 0, queued: 0, taken: 0 },
    stuckRuns: { retry: call('retry', answers.stuck ?? 0) },
    reports: { flush: () => void calls.push('flush') },
    complaints: { settle: () => void calls.push('settle') },
    retention: { run: call('retention', undefined), trimFeed: call('trim', undefined) },
  }
  const all = listChores(parts as unknown as ChoreParts)
  return {
    all,
    /** What one time of a chore calls, in order. */
    async run(name: string): Promise<readonly string[]> {
      await all.find((one) => one.name === name)?.run()
      return calls
    },
  }
}

test('runs the chores that find due runs and messages at a hint', () => {
  const hinted = chores().all.filter(({ onHint }) => onHint)
  expect(hinted.map(({ name }) => name)).toEqual(['poll', 'stuck runs'])
})

test('renews the lease five times within its length', async () => {
  const { all, run } = chores()
  expect(all.find(({ name }) => name === 'lease')?.everyMs).toBe(2_000)
  expect(await run('lease')).toEqual(['renew', 'look'])
})

test('drops all runs before it registers again, once the lease is lost', async () => {
  const { run } = chores({ renew: false })
  expect(await run('lease')).toEqual(['renew', 'warn', 'drop', 'register', 'look'])
})

test.each([
  ['sweep', { sweep: 2 }, ['sweep', 'claim']],
  ['sweep', {}, ['sweep']],
  ['stuck runs', { stuck: 2 }, ['retry', 'claim']],
  ['stuck runs', {}, ['retry']],
  ['poll', {}, ['claim', 'mail', 'settle']],
  ['reports', {}, ['flush']],
  ['unclaimable runs', {}, ['backlog']],
  ['retention', {}, ['retention']],
  ['feed', {}, ['trim']],
] as const)('%s with %j calls %j', async (name, answers, calls) => {
  expect(await chores(answers).run(name)).toEqual(calls)
})
