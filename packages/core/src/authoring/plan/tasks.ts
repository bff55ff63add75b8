import type { Actor } from '../../base/people.ts'
import { checkObject } from '../../checks/options.ts'
import { isRevived, recordFailure, tellFailure } from '../../errors/failure.ts'
import { consentNames } from '../../events/consent.ts'
import { decode, encode } from '../../events/payload.ts'
import type { Decision } from '../agent/agent.ts'
import { decision } from '../agent/context.ts'
import type { GateParts } from '../gate/context.ts'
import type { Approval } from '../human/ask.ts'
import { approval } from '../human/context.ts'
import { askUnderFreeKey } from '../human/free-key.ts'
import { remarkOnAsk } from '../human/remarks.ts'
import { stepOperation } from '../step/context.ts'
import { readAttemptOptions } from '../step/options.ts'
import type { StepCall } from '../step/step.ts'
import { checkOf } from './edits.ts'
import type { PlanSettings } from './options.ts'
import {
  type Action,
  type ActionCheck,
  type ActionTask,
  isAction,
  type JudgeOptions,
  type Task,
  type VerifyTask,
} from './plan.ts'
import { isData } from './read-tasks.ts'
import { fillReferences } from './references.ts'
import { type Outcomes, type PlanProgress, sectionsOf } from './sections.ts'

/** What became of a task. */
export type TaskEnd =
  | { readonly status: 'done'; readonly value: unknown; readonly by?: Actor }
  | { readonly status: 'skipped' }
  | { readonly status: 'failed'; readonly why: string }

/** What a task may see of its plan. */
export interface TaskPlace extends PlanProgress {
  readonly plan: PlanSettings
  /** Identifies the undos of the plan. */
  readonly group: object
}

/** Runs a task: its check, and then its action; or its verification. */
export async function runTask(parts: GateParts, place: TaskPlace, task: Task): Promise<TaskEnd> {
  try {
    return await (isAction(task) ? checkAndAct(parts, place, task) : verify(parts, place, task))
  } catch (error) {
    // The recorded failure of an operation; anything else is a cancel or a bug.
    if (!(error instanceof Error) || !isRevived(error)) throw error
    return { status: 'failed', why: tellFailure(recordFailure(error)).message }
  }
}

async function verify(parts: GateParts, place: TaskPlace, task: VerifyTask): Promise<TaskEnd> {
  const { id, verify: question, needs, ...options } = task
  const ifNo = `The plan stops, and what '${id}' looks at is undone.`
  const { choice, rationale } = await decide(parts, place, {
    ...{ task, name: `${id} · verify`, question, choices: ['ok', 'failed'], yes: 'ok', no: 'failed' },
    outcomes: { yes: 'ok', no: 'failed', ifNo },
    material: pick(place.results, needs),
    options,
  })
  return choice === 'ok' ? { status: 'done', value: rationale } : { status: 'failed', why: rationale }
}

async function checkAndAct(parts: GateParts, place: TaskPlace, task: ActionTask): Promise<TaskEnd> {
  const check = checkOf(task, place.plan)
  const filled = fillReferences(task.params ?? {}, task.needs ?? [], place.results)
  if ('missing' in filled)
    return { status: 'failed', why: `Its params take '${filled.missing}', and there is no such result.` }
  if (!isData(filled.params))
    return { status: 'failed', why: 'Its params are taken from results, and are not an object.' }
  const params = makeParams(task, place, filled.params)
  if (check === undefined) return act(parts, place, task, params)
  return check.type === 'human'
    ? checkByPeople(parts, place, task, check, params)
    : checkByAgent(parts, place, task, check, params)
}

/** The params as the action makes them of the given ones and of results. */
function makeParams({ id, use }: ActionTask, { plan, results }: TaskPlace, given: object): object {
  const { params: make } = plan.use[use] as Action
  if (make === undefined) return given
  // A copy, since the code may change what it is given.
  return checkObject(`params of task '${id}'`, make(decode(encode(given, 'params')), copiesOf(results)))
}

type HumanCheckOf<C> = Extract<C, { readonly type: 'human' }>
type AgentCheckOf<C> = Extract<C, { readonly type: 'agent' }>

async function checkByPeople(
  parts: GateParts,
  place: TaskPlace,
  task: ActionTask,
  { message, type: _, onReject = 'cancel', details = [], history, ...options }: HumanCheckOf<ActionCheck>,
  params: object,
): Promise<TaskEnd> {
  const ownHistory = history ?? (task.needs?.length ? { steps: task.needs } : undefined)
  const asked = {
    ...{
      ...options,
      params,
      details: [...details, ...sectionsOf(task, place, outcomesOfApproval(task, onReject))],
    },
    ...(ownHistory && { history: ownHistory }),
    onReject: onReject === 'cancel' ? 'cancel-run' : 'return',
  }
  const answer = await askUnderFreeKey(task.id, async (key) => {
    const operation = approval(message, { ...asked, key }, `of task '${task.id}'`)
    remarkOnAsk(parts.options, operation, message, asked, 'Pass the value in the `params` of the task')
    return (await parts.ask({ ...operation, name: consentNames.approve(task.id) })) as Approval<object>
  })
  if (!answer.approved) return { status: 'skipped' }
  return act(parts, place, task, answer.params, answer.by)
}

async function checkByAgent(
  parts: GateParts,
  place: TaskPlace,
  task: ActionTask,
  { question, type: _, ...options }: AgentCheckOf<ActionCheck>,
  params: object,
): Promise<TaskEnd> {
  const { choice, rationale, by } = await decide(parts, place, {
    ...{ task, name: consentNames.decide(task.id), question },
    ...{ choices: ['approve', 'reject'], yes: 'approve', no: 'reject' },
    outcomes: { yes: 'approved', no: 'rejected', ifNo: failureOf(task, place.plan) },
    material: { params, results: pick(place.results, task.needs ?? []) },
    options,
  })
  if (choice === 'reject') return { status: 'failed', why: rationale }
  return act(parts, place, task, params, by)
}

function outcomesOfApproval({ id }: Task, onReject: 'cancel' | 'skip'): Outcomes {
  const ifNo =
    onReject === 'cancel'
      ? 'The run is cancelled, and its completed steps are undone.'
      : `'${id}' and everything behind it is skipped.`
  return { yes: 'approved', no: 'rejected', ifNo }
}

/** Says what a plan does if a task fails. */
function failureOf({ id }: Task, { replan, onError }: PlanSettings): string {
  const end = onError === 'rollback' ? 'the plan stops, and its tasks are undone' : 'the plan stops'
  return replan === 'on-error'
    ? `'${id}' fails: the planner is asked, and if it changes nothing, ${end}.`
    : `'${id}' fails: ${end}.`
}

interface Judged {
  readonly task: Task
  readonly name: string
  readonly question: string
  readonly material: unknown
  readonly choices: readonly string[]
  readonly yes: string
  readonly no: string
  /** What people see who are asked in the place of the agent. */
  readonly outcomes: Outcomes
  readonly options: JudgeOptions & Pick<AgentCheckOf<ActionCheck>, 'agent'>
}

function decide(
  { ask, options: engine }: GateParts,
  place: TaskPlace,
  judged: Judged,
): Promise<Decision<string>> {
  const { task, name, question, material, choices, yes, no, options } = judged
  const { fallback, to, agent = place.plan.decider, ...others } = options
  const details = fallback === 'human' ? sectionsOf(task, place, judged.outcomes) : []
  const outcome = { reject: no, continue: yes, human: { ask: { to, details } } }[fallback]
  return askUnderFreeKey(task.id, async (key) => {
    const given = { ...others, ...(agent && { agent }), material, key, fallback: outcome }
    return (await ask({ ...decision(question, choices, given, engine), name })) as Decision<string>
  })
}

async function act(
  parts: GateParts,
  { plan, results, group }: TaskPlace,
  { id, use }: ActionTask,
  params: object,
  by?: Actor,
): Promise<TaskEnd> {
  const { run, undo, retry, timeout } = plan.use[use] as Action
  const bytes = encode(params, 'params')
  const called = parts.options.effects.step(id, run)
  const body = (call: StepCall): unknown => called(decode(bytes), copiesOf(results), call)
  const policy = readAttemptOptions(`of task '${id}'`, { retry, timeout })
  const value = await parts.issue(stepOperation(parts, { name: id, body, policy, undo, group }))
  return { status: 'done', value, ...(by === undefined ? {} : { by }) }
}

/** Copies of results, each made when it is read: code that changes what it is given changes nothing that others see. */
function copiesOf(results: { readonly [task: string]: unknown }): { readonly [task: string]: unknown } {
  const copies = {}
  for (const [id, result] of Object.entries(results)) {
    let copy: { readonly value: unknown } | undefined
    Object.defineProperty(copies, id, {
      enumerable: true,
      get: () => {
        copy ??= { value: decode(encode(result, 'result')) }
        return copy.value
      },
    })
  }
  return copies
}

function pick(
  results: { readonly [task: string]: unknown },
  ids: readonly string[],
): { readonly [task: string]: unknown } {
  return Object.fromEntries(ids.map((id) => [id, results[id]]))
}
