// oxlint-disable typescript/no-floating-promises, no-unused-expressions -- nothing here is run
// What the compiler must refuse: each line below a directive is a mistake, and the directive says which.
// A mistake that compiles makes its directive an error.
import { describe, test } from 'vitest'
import { z } from 'zod'
import {
  type Actor,
  type Audience,
  agent,
  type Client,
  type Ctx,
  type Deadline,
  type Duration,
  decider,
  duration,
  type Engine,
  type EngineOptions,
  FinalError,
  PawlError,
  procedure,
  ref,
  type Store,
} from '../../src/index.ts'

declare const ctx: Ctx<{ signals: { paid: { cents: number }; stop: undefined } }>
declare const silent: Ctx
declare const client: Client
declare const engine: Engine
declare const store: Store
const { human } = ctx

const order = procedure(
  { name: 'order', input: z.object({ id: z.string() }), signals: { paid: z.object({ cents: z.number() }) } },
  async () => 1,
)
const hello = procedure({ name: 'hello' }, async () => 'hi')
const named = z.object({ name: z.string() })
const writer = agent(
  { name: 'writer', input: z.object({ topic: z.string() }), output: z.object({ text: z.string() }) },
  async ({ topic }) => ({ text: topic }),
)

describe('durations', () => {
  test('requires a number and a known unit in a duration', () => {
    // @ts-expect-error a bare number has no unit
    const bare: Duration = 90
    // @ts-expect-error a number in a string has no unit either
    const unitless: Duration = '90'
    // @ts-expect-error words are not units
    const words: Duration = '5 minutes'
    // @ts-expect-error years are not among the units
    const years: Duration = '1y'
    // @ts-expect-error one unit only
    const mixed: Duration = '1h30m'
    // @ts-expect-error any text may be no duration: check it with duration()
    const unchecked: Duration = String(process.env['TIMEOUT'])
    // @ts-expect-error an instant is a Date, not a number
    const instant: Deadline = 1_700_000_000_000
    // @ts-expect-error duration() checks text
    const number = duration(90)
    // @ts-expect-error a bare number does not sleep
    silent.sleep(5)
    // @ts-expect-error sleep takes a span; an instant is for sleepUntil
    silent.sleep(new Date(0))
    // @ts-expect-error sleepUntil takes an instant
    silent.sleepUntil('3d')
    return [bare, unitless, words, years, mixed, unchecked, instant, number]
  })
})

describe('people', () => {
  test('requires a scheme in the name of a person', () => {
    // @ts-expect-error an audience needs a scheme
    const anybody: Audience = 'ana'
    // @ts-expect-error agents are not asked
    const machine: Audience = 'agent:writer'
    // @ts-expect-error a queue has a scope and a name
    const queue: Audience = 'queue:refunds'
    // @ts-expect-error an actor needs a scheme
    const actor: Actor = 'ana'
    // @ts-expect-error a group cannot act
    const group: Actor = 'group:ops'
    return [anybody, machine, queue, actor, group]
  })
})

describe('procedures', () => {
  test('requires a name, known options and a matching body for a procedure', () => {
    // @ts-expect-error a procedure has a name
    procedure({}, async () => 1)
    // @ts-expect-error a version is a number
    procedure({ name: 'p', version: '2' }, async () => 1)
    // @ts-expect-error a body is async
    procedure({ name: 'p' }, () => 1)
    // @ts-expect-error a procedure without an input schema gets no input
    procedure({ name: 'p' }, async (_ctx, { id }) => id)
    // @ts-expect-error the input has no such part
    procedure({ name: 'p', input: z.object({ id: z.string() }) }, async (_ctx, { name }) => name)
    // @ts-expect-error the output must fit its schema
    procedure({ name: 'p', output: z.object({ done: z.boolean() }) }, async () => ({ done: 'yes' }))
    // @ts-expect-error not one of the outcomes of the output schema
    procedure({ name: 'p', output: z.enum(['yes', 'no']) }, async () => 'maybe')
    // @ts-expect-error every path must give an output
    procedure({ name: 'p', output: z.string() }, async () => {})
    // @ts-expect-error a signal is declared with a schema
    procedure({ name: 'p', signals: { paid: Number } }, async () => 1)
    // @ts-expect-error an input is declared with a schema
    procedure({ name: 'p', input: { id: 'string' } }, async () => 1)
    // @ts-expect-error procedure has no option 'versoin'
    procedure({ name: 'p', versoin: 2 }, async () => 1)
    // @ts-expect-error procedure has no option 'retry'
    procedure({ name: 'p', input: z.string(), retry: { attempts: 2 } }, async (_ctx, text) => text)
    // @ts-expect-error a ref needs the type of its procedure: ref<typeof order>('order')
    ref('order')
    // @ts-expect-error a ref has no version
    const wrong: { readonly version: number } = ref<typeof order>('order')
    return wrong
  })
})

describe('steps', () => {
  test('requires a name, a body and options of a step in this order', () => {
    // @ts-expect-error a step has a name
    ctx.step(() => 1)
    // @ts-expect-error a step has a body
    ctx.step('load')
    // @ts-expect-error a body, not its promise
    ctx.step('load', Promise.resolve(1))
    // @ts-expect-error a timeout has a unit
    ctx.step('load', () => 1, { timeout: 30 })
    // @ts-expect-error the attempts are options of retry
    ctx.step('load', () => 1, { attempts: 5 })
    // @ts-expect-error true is no policy: leave it out for the default
    ctx.step('load', () => 1, { retry: true })
    // @ts-expect-error a backoff has a unit
    ctx.step('load', () => 1, { retry: { backoff: 2 } })
    // @ts-expect-error jitter is 'full' or 'none'
    ctx.step('load', () => 1, { retry: { jitter: 'half' } })
    // @ts-expect-error what a step gives is a promise
    ctx.step('load', () => 1).toFixed()
    // @ts-expect-error an error has a message
    throw new FinalError()
  })
})

describe('signals', () => {
  test('types received signals as declared', async () => {
    // @ts-expect-error no such signal
    ctx.receive('payed')
    // @ts-expect-error this procedure declares no signals
    silent.receive('paid')
    // @ts-expect-error a timeout has a unit
    ctx.receive('paid', { timeout: 5 })
    // @ts-expect-error with a timeout it may be null
    ;(await ctx.receive('paid', { timeout: '1h' })).cents
    // @ts-expect-error the payload has no such part
    ;(await ctx.receive('paid')).euros
    // @ts-expect-error several names require an array
    ctx.receiveAny('paid')
    // @ts-expect-error no such signal among them
    ctx.receiveAny(['paid', 'payed'])
    // @ts-expect-error only 'paid' has cents: look at the name first
    ;(await ctx.receiveAny(['paid', 'stop'])).payload.cents
  })

  test('types sent signals as declared', () => {
    // @ts-expect-error no such signal
    client.get(order, 'a').signal('payed', { cents: 1 })
    // @ts-expect-error its payload is missing
    client.get(order, 'a').signal('paid')
    // @ts-expect-error its payload is another
    client.get(order, 'a').signal('paid', { cents: '1' })
    // @ts-expect-error this procedure declares no signals
    client.get(hello, 'a').signal('paid', { cents: 1 })
    // @ts-expect-error the id is text
    client.get(order, 'a').signal('paid', { cents: 1 }, { id: 7 })
  })
})

describe('asks', () => {
  test('requires the values of the message and a stated risk from approve', async () => {
    // @ts-expect-error {count} has no value
    human.approve('Delete {count} files?')
    // @ts-expect-error {count} has no value among the params, and no data
    human.approve('Delete {count} files?', { params: { dir: '/tmp' } })
    // @ts-expect-error an object cannot be part of a message
    human.approve('Delete {files}?', { data: { files: ['a'] } })
    // @ts-expect-error only params can be edited
    human.approve('Refund?', { params: { amount: 1 }, editable: ['total'] })
    // @ts-expect-error without params there is nothing to edit
    human.approve('Refund?', { editable: ['amount'] })
    // @ts-expect-error approval on timeout requires a stated low or medium risk
    human.approve('Delete it?', { timeout: '1h', onTimeout: 'approve' })
    // @ts-expect-error approval on timeout is not allowed at a high risk
    human.approve('Delete it?', { risk: 'high', timeout: '1h', onTimeout: 'approve' })
    // @ts-expect-error no such risk
    human.approve('Delete it?', { risk: 'extreme' })
    // @ts-expect-error no such silence
    human.approve('Delete it?', { timeout: '1h', onTimeout: 'ignore' })
    // @ts-expect-error an approval has no default value: it is yes or no
    human.approve('Delete it?', { timeout: '1h', onTimeout: { default: true } })
    // @ts-expect-error onTimeout needs a timeout
    human.approve('Delete it?', { onTimeout: 'reject' })
    // @ts-expect-error a timeout has a unit
    human.approve('Delete it?', { timeout: 3600 })
    // @ts-expect-error an audience needs a scheme
    human.approve('Delete it?', { to: 'ana' })
    // @ts-expect-error the option is called to
    human.approve('Delete it?', { assignees: ['user:ana'] })
    const approval = await human.approve('Refund?', { params: { amount: 1 } })
    // @ts-expect-error only an approval that was given has params: look at approved first
    approval.params.amount
    // @ts-expect-error the answer may be missing
    if (!approval.approved) approval.by.length
  })

  test('requires valid options of input, select and review', async () => {
    // @ts-expect-error input needs a schema
    human.input('Who are you?')
    // @ts-expect-error the default must fit the schema
    human.input('Who?', named, { timeout: '1h', onTimeout: { default: { name: 1 } } })
    // @ts-expect-error onTimeout needs a timeout
    human.input('Who?', z.string(), { onTimeout: { default: 'x' } })
    // @ts-expect-error the initial value must fit the schema
    human.input('Who?', z.object({ name: z.string() }), { initial: { name: 1 } })
    // @ts-expect-error silence is no approval of data
    human.input('Who?', z.string(), { timeout: '1h', onTimeout: 'approve' })
    // @ts-expect-error select needs choices
    human.select('Where to?')
    // @ts-expect-error choices are texts
    human.select('How many?', [1, 2, 3])
    // @ts-expect-error a choice has a value
    human.select('Where to?', [{ label: 'Staging' }])
    // @ts-expect-error the default must be one of the choices
    human.select('Where to?', ['staging', 'production'], { timeout: '1h', onTimeout: { default: 'nowhere' } })
    // @ts-expect-error onTimeout needs a timeout
    human.select('Where to?', ['staging', 'production'], { onTimeout: 'escalate' })
    // @ts-expect-error not one of the choices
    ;(await human.select('Where to?', ['staging', 'production'])) === 'test'
    // @ts-expect-error review needs something to look at
    human.review('Publish?')
    // @ts-expect-error the default must be one of the choices
    human.review('Publish?', 'text', { timeout: '1h', onTimeout: { default: 'publish' } })
    // @ts-expect-error onTimeout needs a timeout
    human.review('Publish?', 'text', { onTimeout: 'fail' })
    // @ts-expect-error the version before is of the same kind
    human.review('Publish?', 'text', { baseline: 7 })
    // @ts-expect-error {title} has no value
    human.review('Publish {title}?', { title: 'x' })
    // @ts-expect-error not one of the choices
    ;(await human.review('Publish?', 'text')).choice === 'publish'
  })

  test('returns an answer from escalate and none from notify', async () => {
    // @ts-expect-error escalate waits until a person resolves it
    human.escalate('Totals differ', { timeout: '1h' })
    // @ts-expect-error no such severity
    human.escalate('Totals differ', { severity: 'bad' })
    // @ts-expect-error not one of the choices
    ;(await human.escalate('Totals differ', { choices: ['retry'] })).choice === 'continue'
    // @ts-expect-error a notice does not wait for an answer
    human.notify('It is out', { timeout: '1h' })
    // @ts-expect-error {title} has no value
    human.notify('{title} is out')
  })
})

describe('agents', () => {
  test('types the input and the output of agents', () => {
    // @ts-expect-error agent has no option 'model'
    agent({ name: 'a', input: z.string(), output: z.string(), model: 'm' }, async (text) => text)
    // @ts-expect-error an agent has an output schema
    agent({ name: 'a', input: z.string() }, async () => 'x')
    // @ts-expect-error the output must fit its schema
    agent({ name: 'a', input: z.string(), output: z.number() }, async (text) => text)
    // @ts-expect-error the input must fit its schema
    ctx.agent(writer, { subject: 'x' })
    // @ts-expect-error an agent is passed, not named
    ctx.agent('writer', { topic: 'x' })
    // @ts-expect-error a verdict has a rationale
    decider('critic', async () => ({ choice: 'go' }))
  })

  test('requires a valid fallback for decide', () => {
    // @ts-expect-error a fallback is compulsory
    ctx.agent.decide('Plausible?', ['go', 'stop'])
    // @ts-expect-error a fallback is compulsory among the options too
    ctx.agent.decide('Plausible?', ['go', 'stop'], { minConfidence: 0.8 })
    // @ts-expect-error the fallback must be one of the choices
    ctx.agent.decide('Plausible?', ['go', 'stop'], { fallback: 'wait' })
    // @ts-expect-error a confidence is a number
    ctx.agent.decide('Plausible?', ['go', 'stop'], { fallback: 'stop', minConfidence: '80%' })
    // @ts-expect-error an agent that writes cannot judge
    ctx.agent.decide('Plausible?', ['go', 'stop'], { fallback: 'stop', agent: writer })
  })
})

describe('engines and clients', () => {
  test('types the input when a run is started', () => {
    // @ts-expect-error its input is missing
    engine.run(order)
    // @ts-expect-error its input is another
    engine.run(order, { id: 7 })
    // @ts-expect-error it takes no input
    engine.run(hello, { id: 'a' })
    // @ts-expect-error a procedure is passed, not named
    engine.run('order', { id: 'a' })
    // @ts-expect-error an actor needs a scheme
    engine.run(order, { id: 'a' }, { by: 'ana' })
    // @ts-expect-error runOrGet is told which run
    engine.runOrGet(order, { id: 'a' })
    // @ts-expect-error the id of a run is text
    client.get(order, 7)
    // @ts-expect-error a handle has no log: an operator asks the client for it
    client.get(order, 'a').log()
    // @ts-expect-error a client stops at once
    client.stop({ within: '1s' })
  })

  test('requires known options for engines and clients', () => {
    // @ts-expect-error a store is made by sqlite(), postgres() or memory()
    const named: EngineOptions = { store: 'pawl.db', procedures: [order] }
    // @ts-expect-error a ref has no code to run
    const coded: EngineOptions = { store, procedures: [ref<typeof order>('order')] }
    // @ts-expect-error no such mode
    const mode: EngineOptions = { store, procedures: [order], determinism: 'strict' }
    // @ts-expect-error a lease has a unit
    const lease: EngineOptions = { store, procedures: [order], lease: 10 }
    return [named, coded, mode, lease]
  })

  test('requires a person who answers', () => {
    // @ts-expect-error who answers must be said
    client.inbox.answer('a/1', { approved: true })
    // @ts-expect-error an actor needs a scheme
    client.inbox.answer('a/1', { approved: true }, { as: 'ana' })
    // @ts-expect-error an answer says something
    client.inbox.answer('a/1', {}, { as: 'user:ana' })
    // @ts-expect-error a no changes no params
    client.inbox.answer('a/1', { approved: false, params: { amount: 1 } }, { as: 'user:ana' })
    // @ts-expect-error an early answer names the run and the key
    client.inbox.answer({ run: 'a' }, { approved: true }, { as: 'user:ana' })
    // @ts-expect-error no such kind of ask
    client.inbox.list({ kind: 'approval' })
    // @ts-expect-error no such status
    client.list({ status: 'done' })
  })
})

test('distinguishes errors by existing codes', () => {
  const error: unknown = new Error('x')
  // @ts-expect-error no such code
  PawlError.is(error, 'ask_closed')
  // @ts-expect-error this code carries no winner
  if (PawlError.is(error, 'run-not-found')) error.details.winner
})

describe('a body without its own ctx', () => {
  test('rejects a body that does not take its own ctx', () => {
    // @ts-expect-error take the ctx of this shield: (ctx) => …
    ctx.shield(() => ctx.step('a', () => 1))
    // @ts-expect-error take the ctx of this branch: (ctx) => …
    ctx.race({ paid: ctx.receive('paid'), late: () => ctx.sleep('3d') })
    // @ts-expect-error take the ctx of this item: (item, ctx) => …
    ctx.map(['a'], (item) => ctx.step(item, () => 1))
    // @ts-expect-error take the ctx of this item: (item, ctx) => …
    ctx.map(['a'], () => ctx.sleep('1s'))
  })

  test('rejects a branch that is not a promise', () => {
    // @ts-expect-error a branch is an operation or a function
    ctx.race({ now: 1 })
    // @ts-expect-error concurrency is a number
    ctx.map(['a'], (item, ctx) => ctx.step(item, () => 1), { concurrency: '5' })
    // @ts-expect-error there is no such onError
    ctx.map(['a'], (item, ctx) => ctx.step(item, () => 1), { onError: 'ignore' })
  })
})
