import { createClient, type ForkChanges, type PolicyVerdict, procedure } from '@pawl/core'
import { createServer, type Identity } from '@pawl/server'
import { memory, testEngine } from '@pawl/testing'
import fc from 'fast-check'
import { expect } from 'vitest'
import { z } from 'zod'

// People of all roles do anything to runs over HTTP: they start, answer, fork with edits, retry and cancel them, while the world changes.
// Whatever they do, an act must have the consent that it needs, of somebody with the right, for the values that are acted upon. A run goes
// on as a second generation, which asks anew. Half of the servers do not let those who started a run answer it.

const people = {
  fin: { actor: 'user:fin', names: ['group:finance'], role: 'answer' },
  eve: { actor: 'user:eve', names: ['group:sales'], role: 'answer' },
  wim: { actor: 'user:wim', names: [], role: 'watch' },
  olga: { actor: 'user:olga', names: ['group:sales'], role: 'operate' },
  sam: { actor: 'user:sam', names: ['group:finance'], role: 'operate' },
  root: { actor: 'user:root', names: [], role: 'admin' },
} as const satisfies { readonly [token: string]: Identity }
type Token = keyof typeof people

/** The position of the plain approval in the procedure. */
const refundAt = 1

const mayAnswer = (who: Token): boolean =>
  people[who].role === 'admin' || (people[who].names as readonly string[]).includes('group:finance')

const who = fc.constantFrom<Token>('fin', 'fin', 'sam', 'root', 'eve', 'wim', 'olga')
const operator = fc.constantFrom<Token>('olga', 'sam', 'root', 'eve')
const index = fc.nat(20)
const cents = fc.constantFrom(10, 999)
const value = fc.oneof(
  cents.map((n) => ({ cents: n })),
  fc.record({ verdict: fc.constantFrom('allow', 'human', 'deny'), by: fc.constant('user:ceo') }),
  fc.constant({ approved: false }),
  cents.map((n) => ({ approved: true, params: { cents: n } })),
  fc.constant({ approved: true }),
  fc.nat(3),
)
const action = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constant('start' as const), who: operator }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      ...{ who, index, approved: fc.constantFrom(true, true, true, false), cents: fc.option(cents) },
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('fork' as const),
      ...{ who: operator, index, position: fc.nat(12), at: fc.oneof(fc.constant(refundAt), fc.nat(12)) },
      edit: fc.option(value),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('retry' as const), who: operator, index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), who: operator, index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('repair' as const), isDown: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: 'move' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'wait' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('judge' as const),
      verdict: fc.constantFrom<PolicyVerdict>('allow', 'human', 'deny'),
    }),
  },
)
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

/** Does at least once what the tally counts. */
const usual: Action[] = [
  { do: 'repair', isDown: true },
  { do: 'answer', who: 'olga', index: 0, approved: true, cents: null },
  { do: 'answer', who: 'fin', index: 0, approved: true, cents: null },
  { do: 'repair', isDown: false },
  { do: 'retry', who: 'olga', index: 0 },
  { do: 'fork', who: 'olga', index: 0, position: 2, at: refundAt, edit: null },
  { do: 'fork', who: 'olga', index: 1, position: 2, at: refundAt, edit: null },
  {
    ...{ do: 'fork', who: 'root', index: 2, position: 2, at: refundAt },
    edit: { approved: true, params: { cents: 999 } },
  },
  // To the second generation of the first run.
  { do: 'judge', verdict: 'allow' },
  ...Array.from(
    { length: 8 },
    (): Action => ({ do: 'answer', who: 'fin', index: 0, approved: true, cents: null }),
  ),
]

/** One who has approved forks what he has approved. */
const alone: Action[] = [
  { do: 'answer', who: 'sam', index: 0, approved: true, cents: null },
  { do: 'fork', who: 'sam', index: 0, position: 2, at: 12, edit: null },
  { do: 'fork', who: 'eve', index: 0, position: 2, at: 12, edit: null },
]

/** What was done, and what the world was then. */
interface Act {
  readonly what: 'refund' | 'wire' | 'post' | 'drop'
  readonly run: string
  readonly generation: number
  readonly cents: number
  readonly facts?: unknown
  readonly at: number
  readonly version: number
  readonly verdict: PolicyVerdict
}

/** An answer that the server has taken, also as the edit of a fork. */
interface Given {
  readonly run: string
  /** What was asked, with the generation. */
  readonly message: string
  readonly by: Token
  /** Whether it is the edit of a fork. */
  readonly isEdit: boolean
  readonly approved: boolean
  /** What was agreed to; null: what the answer that was edited had shown. */
  readonly cents: number | null
  readonly at: number
}

/** How an attack goes, for controls. */
export interface Weakened {
  /** Lets anyone fork with any edit, as if the server checked no right. */
  readonly editsUnchecked?: boolean
  /** Keeps the facts that a run has read first, as if a later attempt read them no more. */
  readonly blindRetries?: boolean
  /** Lets people answer what they have started, although it should not. */
  readonly selfApproval?: boolean
}

/** How often something of interest has happened in all attacks. */
export interface Tally {
  acts: number
  /** Acts of a second generation. */
  laterActs: number
  /** Acts where nobody could approve what they had started. */
  actsOfTwo: number
  editedAnswers: number
  forksOfForks: number
  retried: number
  refused: number
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const validForMs = 4 * 3_600_000
const generations = 2

function makeWorld() {
  return {
    ...{ isDown: false, version: 1, verdict: 'human' as PolicyVerdict, now: 0, acts: [] as Act[] },
    /** The generation with which a run begins: a fork of a later one begins with that. */
    firstGeneration: new Map<string, number>(),
  }
}

function makePay(world: ReturnType<typeof makeWorld>, weakened: Weakened) {
  const act = (
    what: Act['what'],
    [run, generation]: readonly [string, number],
    cents: number,
    facts?: unknown,
  ): string => {
    const { isDown, now: at, version, verdict } = world
    world.acts.push({ what, run, generation, cents, facts, at, version, verdict })
    if (isDown) throw new Error('it is down')
    return 'done'
  }
  const first = new Map<string, number>()
  const readFacts = (run: string): number => {
    const facts = first.get(run) ?? world.version
    if (weakened.blindRetries === true) first.set(run, facts)
    return facts
  }
  const input = z.object({ generation: z.number() })
  return procedure({ name: 'pay', input }, async (ctx, { generation }) => {
    const { runId } = ctx
    const place = [runId, generation] as const
    if (!world.firstGeneration.has(runId)) world.firstGeneration.set(runId, generation)
    const params = await ctx.step('load', () => ({ cents: 10 }))
    const asked = { params, editable: ['cents'] as const, to: 'group:finance', key: 'refund' } as const
    const paid = await ctx.human.approve(`refund ${generation}`, asked)
    if (paid.approved)
      await ctx.step('refund', () => act('refund', place, paid.params.cents), { retry: false })
    await ctx.gate('wire', {
      ...{ params, retry: false, validFor: '4h', facts: () => readFacts(place.join()) },
      human: { message: `wire ${generation}`, to: 'group:finance', editable: ['cents'] },
      run: (wired, _, facts) => act('wire', place, wired.cents, facts),
    })
    const message = `post ${generation}`
    const check = { type: 'human', message, to: 'group:finance', onReject: 'skip' } as const
    const use = {
      post: { run: ({ cents }: { cents: number }) => act('post', place, cents), retry: false, check },
    } as const
    await ctx.plan([{ id: 'post', use: 'post', params }], { use })
    await ctx
      .step('drop', () => act('drop', place, 0), { classes: ['destructive'], retry: false })
      .catch(() => {})
    if (generation < generations) return ctx.continueAs({ generation: generation + 1 })
    return 'ended'
  })
}

interface Attack {
  readonly actions: readonly Action[]
  /** The option of the server. */
  readonly selfApproval: boolean
}

/** Carries out the actions, and returns the acts that had no right to be. */
async function attack(
  { actions, selfApproval }: Attack,
  weakened: Weakened,
  tally: Tally,
): Promise<readonly Act[]> {
  const world = makeWorld()
  const pay = makePay(world, weakened)
  const store = memory()
  await using engine = await testEngine({
    ...{ procedures: [pay], store },
    humans: [{ ask: /./, answer: 'silence' }],
    logger: silent,
    policy: ({ classes }) => (classes.includes('destructive') ? world.verdict : 'allow'),
  })
  const client = await createClient({ store })
  const server = createServer({
    ...{ client, logger: silent, selfApproval: selfApproval || weakened.selfApproval === true },
    procedures: [pay],
    auth: (request) => people[request.headers.get('authorization')?.slice(7) as Token] ?? null,
  })
  const call = async (token: Token, path: string, body: object) => {
    const headers = {
      host: '127.0.0.1',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const { status } = await server.fetch(new Request(`http://127.0.0.1/v1${path}`, init))
    if (status === 403) tally.refused++
    return status < 300
  }
  const runs: string[] = []
  const forks = new Map<string, string>()
  const starters = new Map<string, Token>()
  const given: Given[] = []
  const settle = async () => {
    await engine.advance('10s')
    world.now += 10_000
  }
  const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(1, list.length)]
  const doIt = async (one: Action): Promise<void> => {
    switch (one.do) {
      case 'repair':
        world.isDown = one.isDown
        return
      case 'move':
        world.version++
        return
      case 'judge':
        world.verdict = one.verdict
        return
      case 'wait':
        await engine.advance('5h')
        world.now += 5 * 3_600_000
        return
      case 'start': {
        const id = `r${runs.length}`
        if (!(await call(one.who, '/runs', { procedure: 'pay', id, input: { generation: 1 } }))) return
        runs.push(id)
        starters.set(id, one.who)
        return
      }
      case 'answer': {
        const ask = pick((await engine.inbox.list()).items, one.index)
        if (ask === undefined) return
        const shown = (ask.params as { cents: number }).cents
        const changes = one.approved && one.cents !== null ? { params: { cents: one.cents } } : {}
        const done = await call(one.who, `/asks/${ask.id}/answer`, { approved: one.approved, ...changes })
        if (!done) return
        const { run, message } = ask
        const what = { run, message, approved: one.approved, by: one.who, isEdit: false }
        given.push({ ...what, cents: one.cents ?? shown, at: world.now })
        return
      }
      case 'fork': {
        const run = pick(runs, one.index)
        if (run === undefined) return
        const edit = one.edit === null ? {} : { edit: { [one.at]: one.edit } }
        const id = `r${runs.length}`
        const made = weakened.editsUnchecked
          ? await engine.fork(run, { position: one.position }, { ...(edit as ForkChanges), id }).then(
              () => true,
              () => false,
            )
          : await call(one.who, `/runs/${run}/fork`, { position: one.position, id, ...edit })
        if (!made) return
        runs.push(id)
        forks.set(id, run)
        starters.set(id, one.who)
        if (forks.has(run)) tally.forksOfForks++
        const edited = one.edit as Partial<{ approved: boolean; params: { cents: number } }> | null
        if (one.at !== refundAt || typeof edited?.approved !== 'boolean') return
        tally.editedAnswers++
        await settle()
        const message = `refund ${world.firstGeneration.get(id)}`
        const what = { run: id, message, by: one.who, isEdit: true, at: world.now }
        given.push({ ...what, approved: edited.approved, cents: edited.params?.cents ?? null })
        return
      }
      case 'retry': {
        const run = pick(runs, one.index)
        if (run !== undefined && (await call(one.who, `/runs/${run}/retry`, {}))) tally.retried++
        return
      }
      case 'cancel': {
        const run = pick(runs, one.index)
        if (run !== undefined) await call(one.who, `/runs/${run}/cancel`, {})
      }
    }
  }
  const lastOf = (run: string, message: string): Given | undefined =>
    given.findLast((one) => one.run === run && one.message === message)
  /** A fork keeps a plain approval, of its original or of an earlier one. */
  const lastInLine = (run: string, message: string): Given | undefined => {
    const original = forks.get(run)
    return lastOf(run, message) ?? (original === undefined ? undefined : lastInLine(original, message))
  }
  /** Who started a run, or one of the originals of a fork. */
  const startersOf = (run: string | undefined): readonly (Token | undefined)[] =>
    run === undefined ? [] : [starters.get(run), ...startersOf(forks.get(run))]
  /** Whether an answer is one for the run that acts upon it: a fork that keeps it has another starter. */
  const isRightful = ({ by, isEdit }: Given, run: string): boolean => {
    if (!mayAnswer(by)) return false
    return selfApproval || (!isEdit && !startersOf(run).includes(by))
  }
  const isRight = ({ what, run, generation, cents, facts, at, version, verdict }: Act): boolean => {
    if (what === 'drop') return verdict === 'allow'
    const message = `${what} ${generation}`
    const last = what === 'refund' ? lastInLine(run, message) : lastOf(run, message)
    if (last?.approved !== true || !isRightful(last, run)) return false
    if (last.cents !== null && last.cents !== cents) return false
    return what !== 'wire' || (facts === version && at - last.at <= validForMs)
  }
  await call('olga', '/runs', { procedure: 'pay', id: 'r0', input: { generation: 1 } })
  runs.push('r0')
  starters.set('r0', 'olga')
  await settle()
  const wrong: Act[] = []
  for (const one of actions) {
    const before = world.acts.length
    await doIt(one)
    await settle()
    // What is answered later does not count.
    wrong.push(...world.acts.slice(before).filter((act) => !isRight(act)))
  }
  await server.stop()
  await client.stop()
  tally.acts += world.acts.length
  tally.laterActs += world.acts.filter(({ generation }) => generation > 1).length
  if (!selfApproval) tally.actsOfTwo += world.acts.filter(({ what }) => what !== 'drop').length
  return wrong
}

/** Attacks runs as often. Rejects if an act had no right to be. */
export async function attackConsents(numRuns: number, weakened: Weakened = {}): Promise<Tally> {
  const tally: Tally = {
    ...{ acts: 0, laterActs: 0, actsOfTwo: 0 },
    ...{ editedAnswers: 0, forksOfForks: 0, retried: 0, refused: 0 },
  }
  const actions = fc.array(action, { minLength: 5, maxLength: 40, size: 'max' })
  await fc.assert(
    fc.asyncProperty(fc.record({ actions, selfApproval: fc.boolean() }), async (one) => {
      const wrong = await attack(one, weakened, tally)
      expect(wrong).toEqual([])
    }),
    // A control only has to fail.
    {
      numRuns,
      examples: [usual, alone].flatMap((actions) =>
        [true, false].map((selfApproval): [Attack] => [{ actions, selfApproval }]),
      ),
      endOnFailure: Object.keys(weakened).length > 0,
    },
  )
  return tally
}
