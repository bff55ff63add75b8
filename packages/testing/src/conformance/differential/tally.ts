import { expect } from 'vitest'
import type { Operation } from './operations.ts'

/** Counts how often each kind of operation succeeded and was refused, and the outcomes. */
export class Tally {
  readonly #counts = new Map<Operation['do'], { accepted: number; refused: number }>()
  readonly #outcomes = new Map<string, number>()

  count(kind: Operation['do'], shown: unknown): void {
    for (const one of listOutcomes(kind, shown)) {
      const counts = this.#counts.get(kind) ?? { accepted: 0, refused: 0 }
      this.#counts.set(kind, counts)
      counts[accepted.has(one) ? 'accepted' : 'refused']++
      const name = `${kind} ${one}`
      this.#outcomes.set(name, (this.#outcomes.get(name) ?? 0) + 1)
    }
  }

  /** Fails if a kind of operation succeeded or was refused too rarely. */
  expectAtLeast(min: number): void {
    for (const [kind, counts] of this.#counts) {
      expect.soft(counts.accepted, `${kind}, accepted`).toBeGreaterThanOrEqual(min)
      if (!never.has(kind)) expect.soft(counts.refused, `${kind}, refused`).toBeGreaterThanOrEqual(min)
    }
  }

  show(): string {
    return [...this.#outcomes]
      .map(([name, count]) => `${name} ${count}`)
      .sort()
      .join(', ')
  }
}

const accepted = new Set(['ok', 'created', 'stored', 'answered', 'yes', 'some'])
/** Operations that are never refused. */
const never = new Set<Operation['do']>(['register', 'release', 'read', 'suspects', 'endTest'])

function listOutcomes(kind: Operation['do'], shown: unknown): string[] {
  if (never.has(kind)) return ['yes']
  if (kind === 'claim' || kind === 'take') return [(shown as unknown[]).length > 0 ? 'some' : 'none']
  if (Array.isArray(shown)) return shown.map(({ outcome }: { outcome: string }) => outcome)
  if (typeof shown === 'number') return [shown > 0 ? 'some' : 'none']
  return [shown === true ? 'yes' : 'no']
}
