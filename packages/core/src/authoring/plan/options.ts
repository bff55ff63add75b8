import type { Audience } from '../../base/people.ts'
import { checkArray, checkFunction, checkObject, checkOneOf, refuse } from '../../checks/options.ts'
import { checkAudience } from '../../checks/people.ts'
import { anything, oneOf, optional, readOptions, required, type Spec, whole } from '../../checks/spec.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { decode, encode } from '../../events/payload.ts'
import { type Agent, type AgentDefinition, agentDefinitionOf } from '../agent/agent.ts'
import type { Question, Verdict } from '../agent/verdict.ts'
import { attemptOptions } from '../step/options.ts'
import { checkOf, editOps } from './edits.ts'
import type { Action, Actions, PlanEdit, PlanOptions, PlanView, Proposal, Task } from './plan.ts'
import { checkCheck, findPlanIssues } from './read-tasks.ts'

/** A plan and its options, validated and with defaults. */
export interface PlanSettings {
  readonly tasks: readonly Task[]
  readonly use: Actions
  readonly decider: Agent<Question, Verdict> | undefined
  readonly planner: Agent<PlanView, Proposal> | undefined
  readonly replan: 'never' | 'on-error' | 'per-layer'
  readonly may: readonly PlanEdit['op'][]
  readonly maxReplans: number
  readonly maxTasks: number
  readonly onError: 'stop' | 'rollback'
  readonly alert: Audience | undefined
}

const planOptions = {
  use: required(readActions),
  decider: optional(checkAgent<Question, Verdict>, undefined),
  planner: optional(checkAgent<PlanView, Proposal>, undefined),
  replan: optional(oneOf(['never', 'on-error', 'per-layer']), 'never'),
  may: optional(checkEdits, []),
  maxReplans: optional(whole(0, 1_000), 3),
  maxTasks: optional(whole(1, 10_000), 1_000),
  onError: optional(oneOf(['stop', 'rollback']), 'stop'),
  alert: optional(checkAudience, undefined),
} satisfies Spec<PlanOptions>

const actionOptions = {
  run: required(checkFunction),
  undo: optional(checkFunction),
  params: optional(checkFunction),
  check: optional(anything),
  ...attemptOptions,
} satisfies Spec<Action>

/**
 * Checks a plan and its options. The tasks are copied, so that later changes to the same objects have no effect.
 * @throws PawlError 'plan-invalid', 'option-invalid', 'duration-invalid', 'payload-refused'
 */
export function readPlan(
  tasks: unknown,
  given: unknown,
  engineDecider: AgentDefinition | undefined,
): PlanSettings {
  const settings = readOptions('of plan', given, planOptions)
  const { replan, planner } = settings
  if (replan !== 'never' && planner === undefined)
    refuse('planner of plan', planner, `With replan: '${replan}' the plan needs a planner.`)
  const issues = findPlanIssues(tasks, settings)
  if (issues.length > 0) throw new PawlError('plan-invalid', { issues: issues.slice(0, 100) })
  const copy = decode(encode(tasks, 'tasks')) as readonly Task[]
  checkDecider(copy, settings, engineDecider)
  return { ...settings, tasks: copy }
}

function readActions(option: string, given: unknown): Actions {
  const actions = checkObject(option, given)
  for (const [name, action] of Object.entries(actions)) {
    const of = `of action '${name}'`
    const { check } = readOptions(of, action, actionOptions, `action '${name}'`)
    if (check !== undefined)
      checkCheck(
        'check',
        check,
        (path, message) => refuse(`${path} ${of}`, check, `It ${message}.`),
        'action',
      )
  }
  return actions as unknown as Actions
}

function checkAgent<In, Out>(option: string, given: unknown): Agent<In, Out> {
  if (agentDefinitionOf(given) === undefined)
    refuse(option, given, 'It must be created by agent() or decider().')
  return given as Agent<In, Out>
}

function checkEdits(option: string, given: unknown): readonly PlanEdit['op'][] {
  return checkArray(option, given).map((op) => checkOneOf(option, op, editOps))
}

/** A plan that has something to judge needs a decider: known before its first task runs. */
function checkDecider(
  tasks: readonly Task[],
  limits: Pick<PlanSettings, 'use' | 'decider'>,
  engineDecider: AgentDefinition | undefined,
): void {
  if (limits.decider !== undefined || engineDecider !== undefined) return
  const judged = tasks.find((task) => {
    const check = checkOf(task, limits)
    return task.verify !== undefined || (check?.type === 'agent' && check.agent === undefined)
  })
  if (judged !== undefined)
    refuse(
      'decider of plan',
      undefined,
      `Task '${judged.id}' is judged by an agent: pass \`decider\`, or set \`decider\` in createEngine.`,
    )
}
