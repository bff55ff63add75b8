import type { Unexplored } from './gaps.ts'
import type { DefaultRule, Rule } from './options.ts'

/** The result of `explore`. */
export interface Exploration {
  /** Number of paths: combinations of outcomes that the procedure can tell apart. */
  readonly paths: number
  /** Number of outcomes that were left out because the procedure cannot tell them from others. */
  readonly leftOut: number
  /** Number of paths that asked one question a fourth time or reached `maxOps`. */
  readonly cut: number
  /** Number of paths on which more than three operations were pending at once. Of those only the first and the last came first. */
  readonly bounded: number
  /** Whether `maxPaths` was reached. */
  readonly truncated: boolean
  /** Number of paths by how they ended. */
  readonly ends: { readonly [end: string]: number }
  /** What broke a rule, the shortest path first: steps without the consent that they need, and questions that nothing awaits. */
  readonly violations: readonly Violation[]
  /**
   * On what the procedure depends that was not explored: `violations: []` says nothing about it. 'random' (`ctx.random`, `ctx.uuid`),
   * 'time' (`ctx.now`), 'by' and 'comment' (of answers), 'version' (older branches), 'updates' (their handlers), 'generations' (after
   * `ctx.continueAs`), 'children' (what they do), 'undos'.
   */
  readonly unexplored: readonly Unexplored[]
}

/** What changes something outside a run: a step, a call or spawn of a child, a message to another run. */
export type ActKind = 'step' | 'child' | 'message'

/** A rule that was broken. */
export interface Violation {
  /** Name of the step, of the child or of the message; undefined if none of them broke the rule. */
  readonly step: string | undefined
  /** What `step` names: a 'step', a 'child' or a 'message' to another run; undefined if it is undefined. */
  readonly act: ActKind | undefined
  /** The rule that was broken: one of `never`, or the name of one that holds by default. */
  readonly rule: Rule | DefaultRule
  /** What was wrong, such as 'no person said yes' or 'one yes, two acts'. */
  readonly why: string
  /** What happened on the path that leads there, in order. */
  readonly outcomes: readonly string[]
}
