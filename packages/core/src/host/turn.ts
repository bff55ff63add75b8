import type { Turns } from '../kernel/turns.ts'
import { shareCell } from './process/wide.ts'

/** The current turn of this process; two copies of the package share it, so that they never hold a turn at once. */
export const turns: Turns = shareCell('turns', () => ({ current: null, broken: false }))
