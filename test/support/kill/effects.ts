import { existsSync, readFileSync } from 'node:fs'

/** A step that had its effect, or began to have it. */
export interface Effect {
  readonly run: string
  readonly step: string
  readonly key: string
  readonly pid: number
  /** When its process began, by the clock that all on this machine share. */
  readonly processAt: number
}

/** Those of a ledger, in order. */
export function readEffects(file: string): readonly Effect[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Effect)
}
