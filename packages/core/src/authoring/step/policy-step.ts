import { showValue } from '../../base/text.ts'
import { type PolicyVerdict, policyVerdicts } from '../../base/words.ts'
import { checkArray, checkName } from '../../checks/options.ts'
import { consentNames } from '../../events/consent.ts'
import type { BodyOperation } from '../operations.ts'
import type { ActionClass, Judgement } from '../policy/policy.ts'
import type { ProgramOptions } from '../program-options.ts'
import { readValue } from '../results.ts'
import { defaultPolicy } from './options.ts'

/** Maximum length of the name of an action, in characters: the names of its other operations are longer. */
export const maxActionName = 180

/** What is judged. */
export interface Action {
  readonly name: string
  readonly classes: readonly ActionClass[]
  /** Returns the params, as a new value. */
  readonly params: () => unknown
  /** The verdict of the action itself. */
  readonly own: () => PolicyVerdict
}

/** Checks the classes of an action. */
export function checkClasses(option: string, given: unknown): readonly ActionClass[] {
  return checkArray(option, given).map((one) => checkName(option, one))
}

/** Builds the step that records the stricter of two verdicts: that of the action, and that of the engine's policy. */
export function policyStep(options: ProgramOptions, action: Action): BodyOperation {
  return {
    ...{ kind: 'step', name: consentNames.policy(action.name), read: readValue, ...defaultPolicy },
    body: () => judge(options, action),
  }
}

/** Returns the stricter of two verdicts: that of the action, and that of the engine's policy. */
export async function judge(
  options: ProgramOptions,
  { name, classes, params, own }: Action,
): Promise<Judgement> {
  const { definition, policy, startedBy } = options
  const question = { procedure: definition.name, name, classes, params: params(), startedBy }
  const ownVerdict = await readVerdict(options, name, own)
  const verdict = policy === undefined ? 'allow' : await readVerdict(options, name, () => policy(question))
  return isStricter(verdict, ownVerdict)
    ? { verdict, by: 'policy:engine' }
    : { verdict: ownVerdict, by: 'policy:gate' }
}

/** Whether a verdict asks for more than another one. */
export function isStricter(verdict: PolicyVerdict, than: PolicyVerdict): boolean {
  return policyVerdicts.indexOf(verdict) > policyVerdicts.indexOf(than)
}

/** A policy that throws, or returns something else, means 'human'. */
async function readVerdict(
  { logger, runId }: ProgramOptions,
  name: string,
  policy: () => unknown,
): Promise<PolicyVerdict> {
  try {
    const given = await policy()
    const verdict = policyVerdicts.find((one) => one === given)
    if (verdict !== undefined) return verdict
    logger.warn(
      `Policy of "${name}" returned ${showValue(given)}, which is not a verdict; a person is asked`,
      { run: runId },
    )
  } catch (error) {
    logger.warn(`Policy of "${name}" threw an error; a person is asked`, { run: runId, error })
  }
  return 'human'
}
