import { decodePayload } from '@pawl/core/internal'
import type { LogEvent } from '@pawl/core/storage'
import type { Chance } from './chance.ts'

/** What the action does, as `Work` of programs. */
interface Act {
  readonly delayMs: number
  readonly failures: number
}

/** An action that needs consent, which the policy of a worker can make stricter. */
export interface GateNode extends Act {
  readonly do: 'gate'
  readonly verdict: 'allow' | 'human'
  /** Whether every reading of its facts differs from the one before. */
  readonly changes: boolean
}

/** The part of the context that gates use. */
export interface GateCtx {
  gate(name: string, options: object): Promise<unknown>
}

export function drawGateNode(chance: Chance, work: Act): GateNode {
  const verdict = chance.pick(['allow', 'human', 'human'] as const)
  return { do: 'gate', ...work, verdict, changes: chance.oneIn(5) }
}

export function operateOnGate(
  node: GateNode,
  path: string,
  ctx: GateCtx,
  { read, perform }: { readonly read: () => number; readonly perform: () => Promise<string> },
): Promise<unknown> {
  return ctx.gate(path, {
    params: { path },
    policy: () => node.verdict,
    human: { message: path },
    facts: () => (node.changes ? read() : 'same'),
    run: perform,
  })
}

/** Whether an event records that an action was not attempted, since its consent did not hold any more. It is asked for again, and may act then. */
export function isWithheld({ type, failed, payload }: LogEvent): boolean {
  if (type !== 'settled' || !failed || payload === null) return false
  return (decodePayload(payload) as { readonly code?: unknown }).code === 'consent-outdated'
}
