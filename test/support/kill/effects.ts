import { appendFileSync, existsSync, readFileSync } from 'node:fs'

/** A step that had its effect, or began to have it. */
export interface Effect {
  readonly run: string
  readonly step: string
  readonly key: string
  readonly pid: number
  /** When its process began, by the clock that all on this machine share. */
  readonly processAt: number
}

/**
 * Writes one down. A SIGKILL can cut the line off in its middle (Linux ends a write between two pages), so each
 * brings its own line break along, in front: what is behind half a line is whole.
 */
export function noteEffect(file: string, effect: Effect): void {
  appendFileSync(file, `\n${JSON.stringify(effect)}`)
}

/** Those of a ledger, in order. One that was cut off did not happen: its process cannot have recorded it. */
export function readEffects(file: string): readonly Effect[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as Effect)
}
