import { type Procedure, procedure } from '@pawl/core'
import { type Use, uses } from '../support/uses.ts'

/** A procedure whose runs are left behind by one version of the SDK and resumed by another. */
export interface Program {
  readonly use: Use
  readonly procedure: Procedure<undefined, unknown>
}

const names = [
  'generateText with an approval',
  'streamText with an approval',
  'ToolLoopAgent.generate',
  'ToolLoopAgent.stream',
  'Output.object',
  'three loops in Promise.all',
]

export const programs: readonly Program[] = names.map((name) => {
  const use = uses[name] as Use
  return { use, procedure: procedure({ name }, use.body) }
})
