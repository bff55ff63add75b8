import type { Audience } from '../../base/people.ts'
import {
  checkArray,
  checkFunction,
  checkKeys,
  checkObject,
  checkOneOf,
  checkWhole,
  refuse,
} from '../../checks/options.ts'
import { checkAudience } from '../../checks/people.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { decode, encode } from '../../events/payload.ts'
import { type Agent, type AgentDefinition, agentDefinitionOf } from '../agent/agent.ts'
import type { Question, Verdict } from '../agent/verdict.ts'
import { readStepOptions, readUndo } from '../step/options.ts'
import { checkOf, editOps } from './edits.ts'
import type { Actions, PlanEdit, PlanView, Proposal, Task } from './plan.ts'
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

const planNames = ['use', 'decider', 'planner', 'replan', 'may', 'maxReplans', 'maxTasks', 'onError', 'alert']

/**
 * Checks a plan and its options. The tasks are copied, so that later changes to the same objects have no effect.
 * @throws PawlError 'plan-invalid', 'option-invalid', 'duration-invalid', 'payload-refused'
 */
export function readPlan(
  tasks: unknown,
  given: unknown,
  engineDecider: AgentDefinition | undefined,
): PlanSettings {
  const options = checkObject('options of plan', given)
  checkKeys('the options of plan', options, planNames)
  const {
    decider,
    planner,
    replan = 'never',
    may = [],
    maxReplans = 3,
    maxTasks = 1_000,
    onError = 'stop',
    alert,
  } = options
  const use = readActions(options['use'])
  const settings = {
    use,
    decider: readAgent<Question, Verdict>('decider of plan', decider),
    planner: readAgent<PlanView, Proposal>('planner of plan', planner),
    replan: checkOneOf('replan of plan', replan, ['never', 'on-error', 'per-layer']),
    may: checkArray('may of plan', may).map((op) => checkOneOf('may of plan', op, editOps)),
    maxReplans: checkWhole('maxReplans of plan', maxReplans, 0, 1_000),
    maxTasks: checkWhole('maxTasks of plan', maxTasks, 1, 10_000),
    onError: checkOneOf('onError of plan', onError, ['stop', 'rollback']),
    alert: alert === undefined ? undefined : checkAudience('alert of plan', alert),
  }
  if (settings.replan !== 'never' && planner === undefined)
    refuse('planner of plan', planner, `With replan: '${settings.replan}' the plan needs a planner.`)
  const issues = findPlanIssues(tasks, settings)
  if (issues.length > 0) throw new PawlError('plan-invalid', { issues: issues.slice(0, 100) })
  const copy = decode(encode(tasks, 'tasks')) as readonly Task[]
  checkDecider(copy, settings, engineDecider)
  return { ...settings, tasks: copy }
}

function readActions(given: unknown): Actions {
  const actions = checkObject('use of plan', given)
  for (const [name, one] of Object.entries(actions)) {
    const of = `of action '${name}'`
    const action = checkObject(`action '${name}'`, one)
    checkKeys(`action '${name}'`, action, ['run', 'undo', 'check', 'retry', 'timeout'])
    checkFunction(`run ${of}`, action['run'])
    readUndo(of, action)
    const { retry, timeout, check } = action
    readStepOptions(of, { retry, timeout })
    if (check !== undefined)
      checkCheck('check', check, (path, message) => refuse(`${path} ${of}`, check, `It ${message}.`))
  }
  return actions as unknown as Actions
}

function readAgent<In, Out>(option: string, given: unknown): Agent<In, Out> | undefined {
  if (given !== undefined && agentDefinitionOf(given) === undefined)
    refuse(option, given, 'It must be created by agent() or decider().')
  return given as Agent<In, Out> | undefined
}

/** A plan that has something to judge needs a decider: known before its first task runs. */
function checkDecider(
  tasks: readonly Task[],
  limits: Pick<PlanSettings, 'use' | 'decider'>,
  engineDecider: AgentDefinition | undefined,
): void {
  if (limits.decider !== undefined || engineDecider !== undefined) return
  const judged = tasks.find((task) => task.verify !== undefined || checkOf(task, limits)?.type === 'agent')
  if (judged !== undefined)
    refuse(
      'decider of plan',
      undefined,
      `Task '${judged.id}' is judged by an agent: pass \`decider\`, or set \`decider\` in createEngine.`,
    )
}
