import { decodePayload } from '@pawl/core/internal'
import type { LogEvent } from '@pawl/core/storage'
import type { RunRecord } from '../../src/memory/tables.ts'
import { isWithheld } from './gates.ts'
import { generationsOf } from './lives.ts'
import type { World } from './world.ts'

/** The verdict and the answers that a log has on each gate. */
function consentsIn({ events }: { readonly events: readonly LogEvent[] }) {
  const isOf = (event: LogEvent, kind: string): boolean =>
    event.type === 'settled' && event.kind === kind && !event.failed
  const policies = events.filter((event) => isOf(event, 'step') && event.name.endsWith(' · policy'))
  return policies.map(({ name, payload }) => {
    const action = name.slice(0, -' · policy'.length)
    const { verdict } = decodePayload(payload as Uint8Array) as { readonly verdict: string }
    const answers = events.filter(
      (event) => isOf(event, 'hitl_approval') && event.name.startsWith(`${action} · approve`),
    )
    const yes = answers.find(({ payload }) => {
      const { answer } = decodePayload(payload as Uint8Array) as { readonly answer?: { approved: boolean } }
      return answer?.approved === true
    })
    const act = events.find(
      (event) =>
        event.type === 'settled' && event.kind === 'step' && event.name === action && !isWithheld(event),
    )
    return { action, verdict, yes, act }
  })
}

/** Whether each gate acted only if the recorded policy allowed it, or a person had said yes before. */
export function findGateFaults({ bodies }: World, run: RunRecord): readonly string[] {
  const generations = generationsOf(run).map(consentsIn)
  // What a generation has begun whose place another one took, it was allowed itself.
  const allowed = new Set(generations.flat().flatMap((gate) => (isAllowed(gate) ? gate.action : [])))
  return generations.flat().flatMap((gate) => {
    const { action, verdict, yes, act } = gate
    const began = bodies.begun.some((one) => one.run === run.id && one.path === action)
    const isLate = act !== undefined && yes !== undefined && act.seq < yes.seq
    return (began && !allowed.has(action)) || (act !== undefined && (!isAllowed(gate) || isLate))
      ? [`the gate ${action} acted, and its policy said ${verdict}`]
      : []
  })
}

function isAllowed({ verdict, yes }: ReturnType<typeof consentsIn>[number]): boolean {
  return verdict === 'allow' || (verdict === 'human' && yes !== undefined)
}

/** The number of gates of a run that acted with the yes of a person. */
export function countConsents(run: RunRecord): number {
  return consentsIn(run).filter(({ yes, act }) => yes !== undefined && act !== undefined).length
}
