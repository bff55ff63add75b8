import type { TurnOwner } from '../../kernel/turns.ts'
import { installOnce } from '../process/wide.ts'
import { replaceDate } from './date.ts'
import { guardMethods } from './methods.ts'
import { guardTemporal } from './temporal.ts'

/**
 * Guards what would differ in a replay (the time, randomness, the network).
 * In a turn, the run answers or rejects the call, according to its `determinism`. Outside turns nothing changes. Returns
 * a function that removes the guard; the last user removes it, if nothing has replaced it since.
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
