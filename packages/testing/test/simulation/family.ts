import { PawlError, type ProcedureRef, ref } from '@pawl/core'
import type { Chance } from './chance.ts'

/** An operation on another run: a child that the run creates, or a run of the world. */
export type FamilyNode = CallNode | SpawnNode | ReachNode

interface Created {
  /** Which of the procedures of children. */
  readonly kid: number
  /** By its name, so that its worker checks the input. */
  readonly isByName: boolean
  /** With an id that the other children of the run may have as well. */
  readonly isNamed: boolean
  readonly isDetached: boolean
}
interface CallNode extends Created {
  readonly do: 'call'
}
interface SpawnNode extends Created {
  readonly do: 'spawn'
  readonly then: 'result' | 'signal' | 'cancel' | 'leave'
}
interface ReachNode {
  readonly do: 'reach'
  /** A run of the world, which may not be there. */
  readonly target: number
  readonly how: 'signal' | 'cancel' | 'result'
  /** How long it waits for a result: runs may wait for each other. */
  readonly waitMs: number
}

/** The number of procedures of children. A child of the first may have children of the others. */
export const kidCount = 2

/** `kids`: the procedures that may be called. `runs`: the number of runs of the world. */
export function drawFamilyNode(chance: Chance, kids: readonly number[], runs: number): FamilyNode {
  const created = (): Created => ({
    kid: chance.pick(kids),
    isByName: chance.oneIn(2),
    isNamed: chance.oneIn(4),
    isDetached: chance.oneIn(4),
  })
  const what = kids.length === 0 ? 5 : chance.below(6)
  if (what < 2) return { do: 'call', ...created() }
  if (what < 4)
    return {
      ...{ do: 'spawn', ...created() },
      then: chance.pick(['result', 'result', 'signal', 'cancel', 'leave'] as const),
    }
  const how = chance.pick(['signal', 'signal', 'signal', 'result', 'result', 'cancel'] as const)
  return { do: 'reach', target: chance.below(runs), how, waitMs: chance.between(1, 3_000) }
}

/** A procedure of children. */
export type KidRef = ProcedureRef<object, readonly string[]>

interface Handle {
  readonly id: string
  result(): Promise<unknown>
  signal(name: 'a', payload: string, options: object): Promise<void>
  cancel(reason: string): Promise<void>
}

export function kidName(kid: number): string {
  return `kid ${kid}`
}

/** The part of a context that it uses, whose types do not follow from what chance has drawn. */
export interface FamilyCtx {
  readonly runId: string
  call(kid: KidRef, input: object, options: object): Promise<unknown>
  spawn(kid: KidRef, input: object, options: object): Promise<Handle>
  get(kid: KidRef, id: string): Handle
  sleep(time: string): Promise<void>
  race(branches: object): Promise<{ readonly winner: string; readonly value: unknown }>
}

/** The id, and so the payload, of the signal that an operation sends. */
export function signalOf(run: string, path: string): string {
  return `from_${run}_${path}`.replace(/\W/g, '_')
}

/** Performs the operation. Returns what it has seen. */
export async function operateOnFamily(
  node: FamilyNode,
  path: string,
  ctx: FamilyCtx,
  kids: readonly KidRef[],
): Promise<unknown> {
  if (node.do === 'reach') return reach(node, path, ctx)
  const { kid, isByName, isNamed, isDetached } = node
  const code = isByName ? ref<KidRef>(kidName(kid)) : (kids[kid] as KidRef)
  const options = {
    ...(isNamed ? { id: `${ctx.runId} kid` } : {}),
    ...(isDetached ? { onParentEnd: 'detach' } : {}),
  }
  if (node.do === 'call') return ctx.call(code, {}, options)
  const handle = await ctx.spawn(code, {}, options)
  if (node.then === 'result') return [handle.id, await handle.result()]
  if (node.then === 'cancel') await handle.cancel('no longer needed')
  if (node.then === 'signal') return [handle.id, await send(handle, path, ctx)]
  return [handle.id, node.then]
}

async function reach({ target, how, waitMs }: ReachNode, path: string, ctx: FamilyCtx): Promise<unknown> {
  // A run cannot write to itself.
  const id = `run ${target}` === ctx.runId ? `run ${target + 1}` : `run ${target}`
  const handle = ctx.get(ref<KidRef>('any of the world'), id)
  if (how === 'cancel') return handle.cancel(`as ${ctx.runId} says`)
  if (how === 'signal') return send(handle, path, ctx)
  const { winner, value } = await ctx.race({
    // A run that is missing, and one that failed, are results too.
    ended: async (own: FamilyCtx) => own.get(ref<KidRef>('any of the world'), id).result().catch(codeOf),
    late: (own: FamilyCtx) => own.sleep(`${waitMs}ms`),
  })
  return [winner, value]
}

async function send(handle: Handle, path: string, { runId }: FamilyCtx): Promise<string> {
  const id = signalOf(runId, path)
  await handle.signal('a', id, { id })
  return id
}

function codeOf(error: unknown): string {
  if (PawlError.is(error) && error.code !== 'cancelled') return error.code
  throw error
}
