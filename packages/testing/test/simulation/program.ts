import { decider, PawlError, type Procedure, procedure } from '@pawl/core'
import { z } from 'zod'
import type { Chance } from './chance.ts'
import { drawFamilyNode, type FamilyCtx, type FamilyNode, type KidRef, operateOnFamily } from './family.ts'
import { drawGateNode, type GateCtx, type GateNode, operateOnGate } from './gates.ts'
import { drawLives, type Lives, rootOf } from './lives.ts'
import { drawHandler, type Handler, handleUpdates, state, updates } from './talk.ts'

/** A procedure as a tree, drawn by chance. */
export type Node =
  | StepNode
  | DecideNode
  | SleepNode
  | ReceiveNode
  | AskNode
  | FamilyNode
  | GateNode
  | { readonly do: 'expose' | 'progress' }
  | { readonly do: 'select' | 'notify' | 'fail' | 'look' | 'child' | 'on rollback' | 'roll back' }
  | { readonly do: 'checkpoint' }
  | {
      readonly do: 'sequence' | 'all' | 'allSettled' | 'race' | 'any' | 'contest'
      readonly parts: readonly Node[]
    }
  | MapNode
  | { readonly do: 'shield'; readonly body: Node }
  | { readonly do: 'attempt'; readonly body: Node; readonly rescue: Node }
  | { readonly do: 'loop'; readonly times: number; readonly body: Node }
  | { readonly do: 'abandon'; readonly body: Node; readonly beside: Node }

/** What a body does. */
export interface Work {
  readonly delayMs: number
  /** So often it fails first, over all attempts of all processes. */
  readonly failures: number
}
interface StepNode extends Work {
  readonly do: 'step'
  readonly attempts: number
  readonly timeoutMs: number | null
  /** Null: nothing undoes it. */
  readonly undo: Work | null
}
interface MapNode {
  readonly do: 'map'
  readonly parts: readonly Node[]
  readonly concurrency: number
  readonly onError: 'stop' | 'collect'
}
interface DecideNode extends Work {
  readonly do: 'decide'
  readonly confidence: number
  readonly asksPeople: boolean
}
/** A span, or an instant that is worked out from the time of the run. */
interface Timed {
  readonly timeoutMs: number | null
  readonly isInstant: boolean
}
interface SleepNode extends Timed {
  readonly do: 'sleep'
  readonly timeoutMs: number
}
interface ReceiveNode extends Timed {
  readonly do: 'receive'
  readonly signals: readonly SignalName[]
}
interface AskNode extends Timed {
  readonly do: 'approve' | 'input'
  readonly onTimeout: 'fail' | 'keep-waiting'
  readonly isKeyed: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: procedures of any types
export type AnyProcedure = Procedure<any, any, any>

/** A procedure that chance has drawn. */
export interface Program extends Lives {
  readonly name: string
  readonly version: number
  readonly root: Node
  /** Whether it throws what leaves its tree, so that it is rolled back. */
  readonly throws: boolean
  readonly graceMs: number
  readonly handler: Handler
}

/** What the drawing of programs depends on. */
interface Drawing {
  readonly chance: Chance
  /** The children that it may create. */
  readonly kids: readonly number[]
  /** The number of runs of the world. */
  readonly runs: number
}

/** What people and programs send; a child run sends `c` to the run that has started it. */
export type SignalName = 'a' | 'b' | 'c'

/** What the bodies of a program touch, and who watches what it sees. */
export interface Stage {
  /** A new execution of a generation of a run begins. Returns where it notes what it sees. */
  beginTrace(run: string): string[]
  /** An execution comes to a place of its program. */
  onPlace?(run: string): void
  /** A step is issued that has an undo. */
  onUndoable(run: string, path: string): void
  /** An undo is registered, and this is called in the same turn. */
  onRegistered(run: string, path: string): void
  /** The body of an operation: what it does, unless it fails. */
  perform(run: string, path: string, work: Work): Promise<string>
  startChild(id: string, parent: string): Promise<void>
  tellParent(id: string, parent: string): Promise<void>
}

const maxDepth = 3

export function drawProgram(drawing: Drawing, name: string, version: number): Program {
  return drawWith(drawing, name, version, drawRoot(drawing))
}

/** The procedure of a child: a few operations, one after the other. */
export function drawKid(drawing: Drawing, name: string): Program {
  const parts = Array.from({ length: drawing.chance.between(1, 3) }, () => drawLeaf(drawing))
  return drawWith(drawing, name, 1, { do: 'sequence', parts })
}

function drawWith({ chance }: Drawing, name: string, version: number, root: Node): Program {
  const graceMs = chance.pick([0, 500, 60_000])
  const handler = drawHandler(chance)
  return { name, version, root, throws: chance.oneIn(2), graceMs, handler, ...drawLives(chance) }
}

function drawRoot(drawing: Drawing): Node {
  const kind = drawing.chance.pick(['sequence', 'sequence', 'all', 'race'] as const)
  return { do: kind, parts: drawParts(drawing, 2, 0) }
}

function drawParts(drawing: Drawing, min: number, depth: number): readonly Node[] {
  return Array.from({ length: drawing.chance.between(min, 3) }, () => drawNode(drawing, depth + 1))
}

function drawNode(drawing: Drawing, depth: number): Node {
  const { chance } = drawing
  const inner = (): Node => drawNode(drawing, depth + 1)
  if (depth >= maxDepth || chance.oneIn(2)) return drawLeaf(drawing)
  switch (chance.below(14)) {
    case 0:
    case 1:
      return { do: 'sequence', parts: drawParts(drawing, 1, depth) }
    case 2:
      return { do: 'all', parts: drawParts(drawing, 1, depth) }
    case 3:
      return { do: 'allSettled', parts: drawParts(drawing, 1, depth) }
    case 4:
      return { do: 'race', parts: drawParts(drawing, 1, depth) }
    case 5:
      return { do: 'any', parts: drawParts(drawing, 1, depth) }
    case 6:
      return { do: 'attempt', body: inner(), rescue: inner() }
    case 7:
      return { do: 'loop', times: chance.between(1, 3), body: inner() }
    case 8:
    case 9:
      return { do: 'contest', parts: drawParts(drawing, 1, depth) }
    case 10:
    case 11:
      return {
        ...{ do: 'map', parts: drawParts(drawing, 1, depth), concurrency: chance.between(1, 3) },
        onError: chance.pick(['stop', 'collect'] as const),
      }
    case 12:
      return { do: 'shield', body: inner() }
    default:
      return { do: 'abandon', body: inner(), beside: inner() }
  }
}

function drawLeaf({ chance, kids, runs }: Drawing): Node {
  const timeoutMs = chance.oneIn(2) ? chance.between(1, 3_000) : null
  const timed = { timeoutMs, isInstant: chance.oneIn(3) }
  const onTimeout = chance.oneIn(2) ? 'fail' : 'keep-waiting'
  const drawWork = (): Work => ({
    delayMs: chance.oneIn(2) ? 0 : chance.between(1, 1_500),
    failures: chance.oneIn(3) ? chance.between(1, 3) : 0,
  })
  const work = drawWork()
  switch (chance.below(24)) {
    case 0:
    case 1:
      return {
        ...{ do: 'sleep', isInstant: timed.isInstant },
        timeoutMs: chance.oneIn(2) ? chance.between(0, 50) : chance.between(100, 5_000),
      }
    case 2:
    case 3:
      return { do: 'receive', signals: chance.pick([['a'], ['b'], ['a', 'b']] as const), ...timed }
    case 4:
    case 5:
      return { do: 'approve', ...timed, onTimeout, isKeyed: chance.oneIn(2) }
    case 6:
      return { do: 'input', ...timed, onTimeout, isKeyed: chance.oneIn(2) }
    case 7:
      return { do: chance.pick(['select', 'notify', 'fail', 'look', 'look'] as const) }
    case 8:
      return { do: 'child' }
    case 9:
    case 10:
      return { do: 'decide', ...work, confidence: chance.pick([0.1, 0.9]), asksPeople: chance.oneIn(2) }
    case 11:
      return { do: chance.pick(['on rollback', 'on rollback', 'roll back'] as const) }
    case 12:
    case 13:
    case 14:
      return drawFamilyNode(chance, kids, runs)
    case 15:
      return { do: chance.pick(['expose', 'expose', 'progress'] as const) }
    case 16:
      return drawGateNode(chance, work)
    case 17:
      return { do: 'checkpoint' }
    default:
      return {
        ...{ do: 'step', ...work, attempts: chance.between(1, 3) },
        undo: chance.oneIn(2) ? drawWork() : null,
        timeoutMs: chance.oneIn(4) ? chance.between(1, 1_000) : null,
      }
  }
}

/** The keys by which its questions can be answered, as far as they are in no loop. */
export function keysOf(
  node: Node,
  path = '/',
): readonly { readonly key: string; readonly kind: 'approve' | 'input' }[] {
  switch (node.do) {
    case 'approve':
    case 'input':
      return node.isKeyed ? [{ key: path, kind: node.do }] : []
    case 'attempt':
      return [...keysOf(node.body, `${path}b`), ...keysOf(node.rescue, `${path}r`)]
    case 'shield':
      return keysOf(node.body, `${path}s`)
    case 'abandon':
      return [...keysOf(node.body, `${path}a`), ...keysOf(node.beside, `${path}b`)]
    case 'loop':
      return keysOf(node.body, `${path}(0)`)
    default:
      return 'parts' in node ? node.parts.flatMap((part, i) => keysOf(part, `${path}${i}`)) : []
  }
}

/** Whether a race of the engine is anywhere in a tree. */
export function hasContest(node: Node): boolean {
  if (node.do === 'contest') return true
  const {
    parts = [],
    body,
    rescue,
    beside,
  } = node as Partial<Record<'body' | 'rescue' | 'beside', Node>> & {
    readonly parts?: readonly Node[]
  }
  return [...parts, body, rescue, beside].some((inner) => inner !== undefined && hasContest(inner))
}

export const signals = { a: z.string(), b: z.string(), c: z.string() }
const form = z.object({ v: z.string() })
let drawn = 0
/** Another one whenever it is asked: what it gave has to be recorded. */
export const input = z.object({
  drawn: z.number().default(() => ++drawn),
  // Of a generation that follows: which it is, what those before it have seen, and how much they have exposed.
  round: z.number().default(1),
  before: z.array(z.string()).default([]),
  shown: z.number().default(0),
})

const promptly: Work = { delayMs: 0, failures: 0 }

/** An error as traces have it. A cancel is told from other errors by its code. */
function show(error: unknown): string {
  return PawlError.is(error, 'cancelled') ? 'cancelled' : String(error)
}

/** Whatever the network does, some attempt gets through. */
const insistent = { retry: { attempts: 1_000, backoff: '10ms', factor: 1 } } as const

/** What `startChild` starts. */
export function makeChild(stage: Stage) {
  return procedure(
    { name: 'child', input: z.object({ parent: z.string() }), output: z.array(z.string()) },
    async (ctx, { parent }) => {
      const trace = stage.beginTrace(ctx.runId)
      await ctx.sleep('30ms')
      await ctx.step('tell', () => stage.tellParent(ctx.runId, parent), insistent)
      trace.push('told')
      return [...trace]
    },
  )
}

/** The procedure that does what the tree says, and returns what it has seen. */
export function makeProcedure(program: Program, stage: Stage, kids: readonly KidRef[]) {
  const { name, version, root, throws, graceMs, handler, rounds } = program
  const decide = decider(`decider of ${name}`, async ({ question, material }) => {
    const node = material as DecideNode
    const [run = '', path = ''] = question.split(' at ')
    const rationale = await stage.perform(run, path, node)
    return { choice: 'y', confidence: node.confidence, rationale }
  })
  let readings = 0
  const grace = `${graceMs}ms` as const
  return procedure(
    { name, version, grace, input, output: z.array(z.string()), signals, updates, state },
    async (outer, given) => {
      type C = typeof outer
      const { round } = given
      const trace = stage.beginTrace(outer.runId)
      trace.push(...given.before)
      let { shown } = given
      const exposeNext = (ctx: Pick<C, 'expose'>): void => {
        ctx.expose('shown', ++shown)
        trace.push(`exposed ${shown}`)
      }
      handleUpdates(handler, outer, { stage, trace, exposeNext: () => exposeNext(outer) })
      trace.push(`version ${version}, given ${given.drawn}`)
      try {
        await run(root, rootOf(round), outer)
      } catch (error) {
        trace.push(`thrown ${show(error)}`)
        if (throws) throw error
      }
      if (round < rounds)
        return outer.continueAs({ drawn: given.drawn, round: round + 1, before: [...trace], shown })
      return [...trace]

      async function run(node: Node, path: string, ctx: C): Promise<unknown> {
        stage.onPlace?.(ctx.runId)
        switch (node.do) {
          case 'sequence':
            for (const [i, part] of node.parts.entries()) await run(part, `${path}${i}`, ctx)
            return undefined
          case 'all':
            return Promise.all(runParts(node.parts, path, ctx))
          case 'allSettled':
            return Promise.allSettled(runParts(node.parts, path, ctx))
          case 'race':
            return Promise.race(runParts(node.parts, path, ctx))
          case 'any':
            return Promise.any(runParts(node.parts, path, ctx))
          case 'contest': {
            const branches: { [name: string]: (own: C) => Promise<unknown> } = {}
            for (const [i, part] of node.parts.entries()) branches[i] = (own) => run(part, `${path}${i}`, own)
            const { winner } = await ctx.race(branches)
            return trace.push(`${path}: won by ${winner}`)
          }
          case 'map': {
            const { concurrency, onError } = node
            const each = (part: Node, own: C, i: number) => run(part, `${path}${i}`, own)
            return ctx.map(node.parts, each, { concurrency, onError })
          }
          case 'shield':
            return ctx.shield((own: C) => run(node.body, `${path}s`, own))
          case 'on rollback':
            ctx.onRollback(path, () => stage.perform(ctx.runId, `undo ${path}`, promptly))
            stage.onRegistered(ctx.runId, path)
            return void trace.push(`${path}: registered`)
          case 'attempt':
            try {
              return await run(node.body, `${path}b`, ctx)
            } catch (error) {
              trace.push(`${path}: caught ${show(error)}`)
              return run(node.rescue, `${path}r`, ctx)
            }
          case 'loop':
            for (let i = 0; i < node.times; i++) await run(node.body, `${path}(${i})`, ctx)
            return undefined
          case 'abandon':
            void run(node.body, `${path}a`, ctx).catch(() => {})
            return run(node.beside, `${path}b`, ctx)
          case 'fail':
            throw new Error(`thrown at ${path}`)
          case 'expose':
            return exposeNext(ctx)
          case 'progress':
            return ctx.progress({ done: trace.length })
          case 'look':
            return void trace.push(
              `${path}: ${+ctx.now()} ${Date.now()} ${ctx.random()} ${Math.random()} ${ctx.uuid()}`,
            )
          default: {
            try {
              const seen = await operate(node, path, ctx)
              if (node.do === 'step' && node.undo !== null) stage.onRegistered(ctx.runId, path)
              return trace.push(`${path}: ${node.do} ${JSON.stringify(seen)}`)
            } catch (error) {
              trace.push(`${path}: ${node.do} failed: ${show(error)}`)
              throw error
            }
          }
        }
      }
      async function startChild(path: string, ctx: C): Promise<unknown> {
        const id = `${ctx.runId}${path}`
        await ctx.step(path, () => stage.startChild(id, ctx.runId), insistent)
        return ctx.receive('c')
      }
      function runParts(parts: readonly Node[], path: string, ctx: C): readonly Promise<unknown>[] {
        return parts.map((part, i) => run(part, `${path}${i}`, ctx))
      }

      function undoOf(undo: Work | null, run: string, path: string): object {
        if (undo === null) return {}
        stage.onUndoable(run, path)
        return { undo: () => stage.perform(run, `undo ${path}`, undo) }
      }

      function dueOf(node: Node): string | Date | null {
        if (!('timeoutMs' in node) || node.timeoutMs === null) return null
        const isInstant = 'isInstant' in node && node.isInstant
        return isInstant ? new Date(+outer.now() + node.timeoutMs) : `${node.timeoutMs}ms`
      }

      function operate(node: Node, path: string, ctx: C): Promise<unknown> {
        const c = ctx as unknown as AnyCtx
        const due = dueOf(node)
        const timeout = due === null ? {} : { timeout: due }
        switch (node.do) {
          case 'step':
            return c.step(path, () => stage.perform(ctx.runId, path, node), {
              ...timeout,
              retry: { attempts: node.attempts, backoff: '20ms', factor: 2 },
              ...undoOf(node.undo, ctx.runId, path),
            })
          case 'decide':
            return ctx.agent.decide(`${ctx.runId} at ${path}`, ['x', 'y'], {
              ...{ agent: decide, material: node, minConfidence: 0.5, timeout: '2s', key: path },
              fallback: node.asksPeople ? { ask: {} } : 'x',
            })
          case 'child':
            return startChild(path, ctx)
          case 'call':
          case 'spawn':
          case 'reach':
            return operateOnFamily(node, path, ctx as unknown as FamilyCtx, kids)
          case 'gate':
            return operateOnGate(node, path, ctx as unknown as GateCtx, {
              read: () => ++readings,
              perform: () => stage.perform(ctx.runId, path, node),
            })
          case 'select':
            return ctx.human.select(path, ['x', 'y'])
          case 'sleep':
            return due instanceof Date ? ctx.sleepUntil(due) : c.sleep(due as string)
          case 'receive':
            return node.signals.length === 1
              ? c
                  .receive(node.signals[0] as SignalName, timeout)
                  .then((payload) => [node.signals[0], payload])
              : c.receiveAny(node.signals, timeout).then((any) => any && [any.name, any.payload])
          case 'approve': {
            const key = node.isKeyed ? { key: path } : {}
            return c.human.approve(path, {
              ...timeout,
              ...key,
              ...('timeout' in timeout ? { onTimeout: node.onTimeout } : {}),
            })
          }
          case 'input': {
            const key = node.isKeyed ? { key: path } : {}
            return c.human.input(path, form, {
              ...timeout,
              ...key,
              ...('timeout' in timeout ? { onTimeout: node.onTimeout } : {}),
            })
          }
          case 'roll back':
            return ctx.rollback(path)
          case 'notify':
            return c.human.notify(path)
          case 'checkpoint':
            return ctx.checkpoint(path, { seen: trace.length })
          default:
            throw new Error(`No operation: ${node.do}`)
        }
      }
    },
  )
}

/** The context without the types that help people: options here are put together by chance. */
interface AnyCtx {
  step(name: string, body: () => Promise<string>, options: object): Promise<string>
  sleep(time: string): Promise<void>
  receive(name: SignalName, options: object): Promise<string | null>
  receiveAny(
    names: readonly SignalName[],
    options: object,
  ): Promise<{ name: SignalName; payload: string } | null>
  readonly human: {
    approve(message: string, options: object): Promise<unknown>
    input(message: string, schema: unknown, options: object): Promise<unknown>
    notify(message: string): Promise<void>
  }
}
