import type { Actor } from '../../base/people.ts'
import type { PolicyVerdict } from '../../base/words.ts'

/** A kind of action that policies know. Other names are allowed. */
export type ActionClass =
  | 'destructive'
  | 'external'
  | 'cost'
  | 'sensitive'
  | 'compliance'
  | (string & { readonly [none in never]: never })

/** The action that a policy judges. */
export interface PolicyQuestion {
  /** Name of the procedure. */
  readonly procedure: string
  /** Name of the gate or step. */
  readonly name: string
  /** The `classes` of the gate or step. */
  readonly classes: readonly ActionClass[]
  /** The `params` of the gate; undefined for a step. */
  readonly params: unknown
  /** The `by` of the run. */
  readonly startedBy: Actor | undefined
}

/** The policy of an engine. */
export type Policy = (action: PolicyQuestion) => PolicyVerdict | Promise<PolicyVerdict>

/** The recorded result of a policy step. */
export interface Judgement {
  readonly verdict: PolicyVerdict
  /** Whose verdict it is: the stricter one, or that of the action itself if both are the same. */
  readonly by: 'policy:gate' | 'policy:engine'
}
