import type { TurnOwner } from '../../kernel/turns.ts'
import { installOnce } from '../process/wide.ts'
import { replaceDate } from './date.ts'
import { guardMethods } from './methods.ts'
import { guardTemporal } from './temporal.ts'

/**
 * Makes what would differ in a replay (the time, chance, the network) answer from the run whose turn it is,
 * or refuse, as that run's `determinism` says. Outside turns everything is as before. Returns how to take
 * the guard away; it goes with the last who asked, where it is still the one in place.
 */
export function installGuard(determinism: TurnOwner['determinism']): () => void {
  if (determinism === 'off') return () => {}
  return installOnce('guard', () => {
    const undoings: (() => void)[] = []
    const undo = (): void => {
      for (const undoOne of undoings.reverse()) undoOne()
    }
    try {
      for (const install of [replaceDate, guardTemporal, guardMethods]) undoings.push(install())
    } catch (error) {
      undo()
      throw error
    }
    return undo
  })
}
