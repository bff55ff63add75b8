import type { Issue } from '../../base/issues.ts'
import type { Schema } from '../../schemas/schema.ts'

/** The input of an agent that decides. */
export interface Question {
  /** Text of the question. */
  readonly question: string
  /** Values of the choices. */
  readonly choices: readonly string[]
  /** The `material` of the decision. */
  readonly material: unknown
}

/** The output of an agent that decides. */
export interface Verdict {
  /** Value of the choice. Range: one of the choices. */
  readonly choice: string
  /** Reason for the choice. */
  readonly rationale: string
  /** Confidence in the choice. Default: none, which counts as 0. Range: from 0 to 1. */
  readonly confidence?: number
}

/** Checks the shape of a verdict; the caller checks whether its choice is one of the question's. */
export const verdictSchema: Schema<Verdict> = {
  '~standard': {
    version: 1,
    vendor: 'pawl',
    validate: (value: unknown) => {
      // Copied once: an agent may return anything, such as getters that change.
      const verdict = typeof value === 'object' && value !== null ? { ...value } : value
      const issues = findIssues(verdict)
      return issues.length === 0
        ? { value: verdict }
        : { issues: issues.map(({ path, message }) => ({ path: path === '' ? [] : [path], message })) }
    },
  },
}

function findIssues(value: unknown): readonly Issue[] {
  if (typeof value !== 'object' || value === null)
    return [{ path: '', message: 'it must be { choice, rationale, confidence? }' }]
  const { choice, rationale, confidence } = value as { readonly [part: string]: unknown }
  const isFraction = typeof confidence === 'number' && confidence >= 0 && confidence <= 1
  return [
    ...(typeof choice === 'string' ? [] : [{ path: 'choice', message: 'must be a string' }]),
    ...(typeof rationale === 'string' ? [] : [{ path: 'rationale', message: 'must be a string' }]),
    ...(confidence === undefined || isFraction
      ? []
      : [{ path: 'confidence', message: 'must be a number from 0 to 1' }]),
  ]
}
