import { decider, procedure } from '@pawl/core'
import { decodePayload, endBeforeUnusedYes } from '@pawl/core/internal'
import { connectTo, type LogEvent, type StorePort } from '@pawl/core/storage'
import { memory, testEngine } from '@pawl/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'

/** A gate that asks a person or an agent, with what its facts and the answers are, round after round. */
const gates = fc.record({
  who: fc.constantFrom('human' as const, 'agent' as const),
  facts: fc.array(fc.constantFrom(1, 2), { minLength: 1, maxLength: 4 }),
  says: fc.array(fc.constantFrom('yes', 'yes', 'no', 'pass on'), { minLength: 1, maxLength: 3 }),
  name: fc.constantFrom('pay', 'ship'),
  /** Whether the agent fails at each question before it decides. */
  stumbles: fc.boolean(),
})
type GateCase = typeof gates extends fc.Arbitrary<infer G> ? G : never

/** Runs gates, side by side or one after the other, and returns the log. */
async function logOf(cases: readonly GateCase[], together: boolean): Promise<readonly LogEvent[]> {
  const asked = new Map<number, number>()
  const saysOf = (n: number): string | undefined => {
    const { says } = cases[n] as GateCase
    const round = asked.get(n) ?? 0
    asked.set(n, round + 1)
    return says[round % says.length]
  }
  const stumbled = new Set<string>()
  const judge = decider('judge', async ({ material }) => {
    const { params } = material as { readonly params: { readonly n: number } }
    const question = `${params.n} ${asked.get(params.n) ?? 0}`
    if (cases[params.n]?.stumbles === true && !stumbled.has(question)) {
      stumbled.add(question)
      throw new Error('busy')
    }
    const said = saysOf(params.n)
    const choice = said === 'yes' ? 'approve' : said === 'no' ? 'reject' : 'ask-human'
    return { choice, rationale: String(params.n), confidence: 1 }
  })
  const many = procedure({ name: 'many', input: z.number() }, async (ctx, count) => {
    const readings = cases.map(({ facts }) => [...facts])
    const pass = (n: number): Promise<unknown> => {
      const { who, name } = cases[n] as GateCase
      return ctx.gate(name, {
        params: { n },
        policy: () => who,
        facts: () => (readings[n]?.length === 1 ? readings[n][0] : readings[n]?.shift()),
        run: () => `act ${n}`,
      })
    }
    // Has the name of a gate by chance.
    await ctx.step('pay', () => 'nothing')
    if (together) await Promise.all(Array.from({ length: count }, (_, n) => pass(n)))
    else for (let n = 0; n < count; n++) await pass(n)
  })
  const store = memory()
  await using engine = await testEngine({
    store,
    procedures: [many],
    decider: judge,
    humans: [
      {
        ask: /./,
        answer: ({ params }) => ({ approved: saysOf((params as { n: number }).n) !== 'no' }) as never,
      },
    ],
  })
  const run = await engine.run(many, cases.length)
  await run.result()
  const port = connectTo(store) as StorePort
  await port.open()
  const row = (await port.runs.find(run.id)) as { readonly run: number }
  return (await port.log.load(row.run, 0, 1_000)) as readonly LogEvent[]
}

/** What each gate of the log has come to, by the number that its params, its verdicts and its action carry. */
function unusedIn(events: readonly LogEvent[]): readonly number[] {
  const open = new Map<number, boolean>()
  const byPosition = new Map<number, number>()
  for (const { type, kind, payload, position, failed } of events) {
    const value = (payload === null ? undefined : decodePayload(payload)) as {
      readonly params?: { readonly n: number }
      readonly answer?: { readonly approved: boolean }
      readonly choice?: string
      readonly rationale?: string
    }
    if (type === 'asked') {
      const n = value.params?.n as number
      byPosition.set(position, n)
      open.set(n, false)
    }
    if (type !== 'settled' || failed) continue
    if (kind === 'hitl_approval')
      open.set(byPosition.get(position) as number, value.answer?.approved === true)
    if (kind === 'ail_decision') open.set(Number(value.rationale), value.choice === 'approve')
    const act = kind === 'step' && typeof value === 'string' ? /^act (\d+)$/.exec(value) : null
    if (act !== null) open.set(Number(act[1]), false)
  }
  return [...open].filter(([, isUnused]) => isUnused).map(([n]) => n)
}

const actsIn = (events: readonly LogEvent[]): readonly unknown[] =>
  events
    .filter(({ kind, type }) => kind === 'step' && type === 'settled')
    .filter(({ name }) => !name.includes(' · '))

/** Two gates of one name that both ask twice. */
const twice: GateCase = { who: 'agent', facts: [1, 2], says: ['yes'], name: 'pay', stumbles: true }

test('a log that is cut where the consents allow it holds no yes without its action', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(gates, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      async (cases, together) => {
        const events = await logOf(cases, together)
        const isUniform = ['pay', 'ship'].every(
          (name) => new Set(cases.filter((one) => one.name === name).map(({ who }) => who)).size < 2,
        )
        for (let end = 1; end <= events.length; end++) {
          const safe = endBeforeUnusedYes(events, end)
          expect(safe).toBeLessThanOrEqual(end)
          expect(unusedIn(events.slice(0, safe))).toEqual([])
          // Only a yes that is not used moves the end, if all gates of one name ask in the same way.
          if (isUniform && unusedIn(events.slice(0, end)).length === 0) expect(safe).toBe(end)
          // What gates before it have done is kept.
          if (isUniform && !together)
            expect(actsIn(events.slice(0, safe))).toEqual(actsIn(events.slice(0, end)))
        }
      },
    ),
    { numRuns: 30, examples: [[[twice, twice], false]] },
  )
})

test('a log of one gate is cut before its question exactly while the yes is not used', async () => {
  const events = await logOf(
    [{ who: 'human', facts: [1], says: ['yes'], name: 'pay', stumbles: false }],
    false,
  )
  const cuts = events.map((_, index) => endBeforeUnusedYes(events, index + 1))
  const asked = events.findIndex(({ type }) => type === 'asked')
  const answered = events.findIndex(({ kind, type }) => kind === 'hitl_approval' && type === 'settled')
  const acted = events.findLastIndex(({ name, type }) => name === 'pay' && type === 'settled')
  expect(cuts).toEqual(events.map((_, at) => (at >= answered && at < acted ? asked : at + 1)))
})

test('a step that was issued before the question, and has the name of the action by chance, uses no yes', async () => {
  const events = await logOf(
    [{ who: 'human', facts: [1], says: ['yes'], name: 'pay', stumbles: false }],
    false,
  )
  const at = events.findIndex(({ name, type }) => name === 'pay' && type === 'settled')
  const early = events[at] as LogEvent
  const answered = events.findIndex(({ kind, type }) => kind === 'hitl_approval' && type === 'settled')
  const late = [...events.slice(0, at), ...events.slice(at + 1, answered + 1), early]
  expect(endBeforeUnusedYes(late, late.length)).toBeLessThan(late.length - 2)
})
