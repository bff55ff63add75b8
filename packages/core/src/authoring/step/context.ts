import { checkFunction, checkName, refuse } from '../../checks/options.ts'
import { optional, readOptions, type Spec } from '../../checks/spec.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { LogEvent } from '../../events/event.ts'
import type { BodyOperation, IssueOperation, ProcedureOperation } from '../operations.ts'
import type { Judgement } from '../policy/policy.ts'
import type { ProgramOptions } from '../program-options.ts'
import { readValue } from '../results.ts'
import type { Rollback } from '../rollback/rollback.ts'
import { attemptOptions, defaultPolicy, policyOf, type StepPolicy, type Undo } from './options.ts'
import { checkClasses, judge, maxActionName, policyStep } from './policy-step.ts'
import type { StepCall, StepOptions } from './step.ts'
import { Withheld } from './withheld.ts'

/** The parts of a `ctx` that steps use. */
export interface StepParts {
  readonly options: ProgramOptions
  readonly issue: IssueOperation
  readonly rollback: Rollback
  /** The names of the actions that need consent, null if there are none; and the number of plans. */
  readonly actions: { names: Set<string> | null; plans: number }
}

const stepOptions = {
  ...attemptOptions,
  undo: optional(checkFunction<Undo>, undefined),
  classes: optional(checkClasses),
} satisfies Spec<StepOptions<unknown>>

/** Runs a step, after its policy if it has classes. */
export function step(parts: StepParts, name: string, body: () => unknown, given?: object): Promise<unknown> {
  const of = `of step '${checkName('name of step', name)}'`
  checkFunction(`body ${of}`, body)
  if (parts.actions.names?.has(name) === true)
    refuse('name of step', name, 'A gate or a task of this run has that name; a step needs its own.')
  const own = parts.options.effects.step(name, body)
  if (given === undefined)
    return parts.issue(stepOperation(parts, { name, body: own, policy: defaultPolicy, undo: undefined }))
  const options = readOptions(of, given, stepOptions)
  const { undo, classes } = options
  const operation = stepOperation(parts, { name, body: own, policy: policyOf(options), undo })
  return classes === undefined ? parts.issue(operation) : allowed(parts, name, classes, operation)
}

/** Runs a step if the policy of the engine allows it. */
async function allowed(
  { issue, options }: StepParts,
  name: string,
  classes: readonly string[],
  operation: BodyOperation,
): Promise<unknown> {
  if (name.length > maxActionName)
    refuse('name of step', name, `With classes it must have at most ${maxActionName} characters.`)
  const action = { name, classes, params: () => undefined, own: (): 'allow' => 'allow' }
  const { verdict } = (await issue(policyStep(options, action))) as Judgement
  if (verdict !== 'allow') throw new PawlError('policy-refused', { step: name, verdict })
  if (!options.isKept) return issue(operation)
  // A retry has kept the verdict, but is an act of today.
  const holds = async (): Promise<void> => {
    const { verdict: now } = await judge(options, action)
    if (now !== 'allow') throw new Withheld(new PawlError('policy-refused', { step: name, verdict: now }))
  }
  return issue({ ...operation, holds })
}

interface StepSpec {
  readonly name: string
  /** With its double in place, if there is one. */
  readonly body: (call: StepCall) => unknown
  readonly policy: StepPolicy
  readonly undo: Undo | undefined
  /** The plan it belongs to, if any. */
  readonly group?: object
}

/** Builds the operation of a step. If it has an undo, it registers it when its result is delivered. */
export function stepOperation(
  { options, rollback }: Pick<StepParts, 'options' | 'rollback'>,
  { name, body, policy, undo, group }: StepSpec,
): BodyOperation {
  const { retry, timeoutMs } = policy
  // One literal for most steps: V8 gives every spread copy its own shape.
  if (undo === undefined) return { kind: 'step', name, read: readValue, body, retry, timeoutMs }
  const { read, readLate } = readAndRegister(options, rollback, { name, undo, group })
  return { kind: 'step', name, read, readLate, body, retry, timeoutMs }
}

/** Reads the result of a step and registers its undo: in the order of the log, live as in a replay. */
function readAndRegister(
  options: ProgramOptions,
  rollback: Rollback,
  { name, undo, group }: { readonly name: string; readonly undo: Undo; readonly group: object | undefined },
): Pick<ProcedureOperation, 'read' | 'readLate'> {
  const undone = (event: LogEvent): ProcedureOperation =>
    undoOperation(options, name, (call) => undo(readValue(event), call))
  return {
    read: (event) => {
      const result = readValue(event)
      rollback.register(name, undone(event), group)
      return result
    },
    readLate: (event) => rollback.add(name, undone(event), group),
  }
}

/** Builds the operation of an undo. */
export function undoOperation(
  { effects }: ProgramOptions,
  name: string,
  body: (call: StepCall) => unknown,
): ProcedureOperation {
  return {
    ...{ kind: 'undo', name, read: readValue },
    ...defaultPolicy,
    body: effects.step(`undo ${name}`, body),
  }
}
