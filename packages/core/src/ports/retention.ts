import { isBuiltIn } from '../base/built-in.ts'
import type { CheckpointPlace } from './store/checkpoints.ts'
import type { EndedRun } from './store/removals.ts'
import type { EndState } from './store/runs.ts'

/** How long the ended runs of a procedure are kept, in ms; null: for ever. */
export interface RetentionRule extends Readonly<Record<EndState, number | null>> {
  readonly decisions: number | null
  /** Kept this long after creation; null: as long as their run. */
  readonly checkpoints: number | null
  /** How long earlier generations of live runs are kept. */
  readonly generations: number | null
  /** Maximum number of ended runs; null: no limit. */
  readonly keep: number | null
}

/** Rules by procedure; '*' for all that are not named. */
export type RetentionRules = ReadonlyMap<string, RetentionRule>

const monthMs = 30 * 24 * 60 * 60 * 1_000
const ofBuiltIns: RetentionRule = {
  ...{ completed: monthMs, failed: monthMs, cancelled: monthMs },
  ...{ decisions: null, checkpoints: null, generations: monthMs, keep: null },
}

/** Returns the rule of a procedure; undefined: all is kept. */
export function ruleOf(rules: RetentionRules, procedure: string): RetentionRule | undefined {
  return rules.get(procedure) ?? (isBuiltIn(procedure) ? ofBuiltIns : rules.get('*'))
}

/** Returns whether a checkpoint has been kept for as long as its rule says. Those of a completed run are not kept. */
export function isCheckpointExpired(
  rules: RetentionRules,
  { procedure, state, at }: CheckpointPlace,
  now: number,
): boolean {
  const keptMs = ruleOf(rules, procedure)?.checkpoints ?? null
  return state === 'completed' || (keptMs !== null && at + keptMs <= now)
}

/** Returns whether a run has been kept for as long as its rule says. */
export function isExpired(rules: RetentionRules, run: EndedRun, now: number): boolean {
  const keptMs = ruleOf(rules, run.procedure)?.[run.state] ?? null
  return keptMs !== null && run.endedAt + keptMs <= now
}
