import type { Issue } from '../../base/issues.ts'
import { isWellFormed } from '../../base/text.ts'
import { checkAudience } from '../../checks/people.ts'
import { maxActionName } from '../step/policy-step.ts'
import { type Actions, isAction, type Task } from './plan.ts'
import { readReference, referencesIn } from './references.ts'

// Tasks are plain data from a file, an agent or the code: every part of them is checked, and every problem has a path.

type Complain = (path: string, message: string) => void
type Data = { readonly [name: string]: unknown }

/** What tasks are checked against. */
export interface PlanLimits {
  readonly use: Actions
  readonly maxTasks: number
}

/** Lists the problems of tasks. None: they are a plan. */
export function findPlanIssues(given: unknown, limits: PlanLimits, at = 'tasks'): readonly Issue[] {
  const issues = findTaskIssues(given, limits, at)
  if (issues.length > 0) return issues
  const found: Issue[] = []
  const tasks = given as readonly Task[]
  checkNeeds(at, tasks, (path, message) => found.push({ path, message }))
  const left = found.length > 0 ? [] : findCycle(tasks)
  return left.length === 0
    ? found
    : [{ path: at, message: `need each other in a cycle: ${left.slice(0, 10).join(', ')}` }]
}

/** Lists the problems of tasks by themselves, whatever they need. */
export function findTaskIssues(given: unknown, limits: PlanLimits, at: string): readonly Issue[] {
  const issues: Issue[] = []
  const complain: Complain = (path, message) => issues.push({ path, message })
  if (!Array.isArray(given)) complain(at, 'must be an array')
  else {
    if (given.length > limits.maxTasks)
      complain(at, `has ${given.length} tasks; the most is ${limits.maxTasks}`)
    for (const [i, task] of given.entries()) checkTask(`${at}[${i}]`, task, limits, complain)
  }
  return issues
}

const actionKeys = ['id', 'use', 'params', 'needs', 'check']
const judgeKeys = ['fallback', 'to', 'minConfidence', 'timeout', 'attempts', 'details', 'history']
const verifyKeys = ['id', 'verify', 'needs', ...judgeKeys]

function checkTask(at: string, task: unknown, { use }: PlanLimits, complain: Complain): void {
  if (!isData(task)) return complain(at, 'must be an object')
  checkId(`${at}.id`, task['id'], complain)
  const { needs } = task
  const isVerify = task['verify'] !== undefined
  checkKnown(at, task, isVerify ? verifyKeys : actionKeys, complain)
  if (needs !== undefined && !isTexts(needs)) complain(`${at}.needs`, 'must be an array of ids')
  if (isVerify) return checkVerify(at, task, complain)
  if (typeof task['use'] !== 'string' || !Object.hasOwn(use, task['use']))
    complain(`${at}.use`, `must be one of ${Object.keys(use).join(', ')}`)
  if (task['params'] !== undefined && !isData(task['params'])) complain(`${at}.params`, 'must be an object')
  if (task['check'] !== undefined) checkCheck(`${at}.check`, task['check'], complain)
}

function checkVerify(at: string, task: Data, complain: Complain): void {
  checkText(`${at}.verify`, task['verify'], complain)
  if (!isTexts(task['needs']) || task['needs'].length === 0)
    complain(`${at}.needs`, 'must name what is verified')
  checkFallback(`${at}.fallback`, task['fallback'], complain)
  if (task['to'] !== undefined) checkTo(`${at}.to`, task['to'], complain)
}

const humanKeys = [
  ...['type', 'message', 'risk', 'editable', 'onReject', 'to', 'timeout', 'onTimeout', 'effect'],
  ...['details', 'links', 'history', 'alternatives', 'channels', 'require'],
]
const agentKeys = ['type', 'question', ...judgeKeys]

/** Checks a check, of a task or in the code of an action; what belongs to its question is checked when it is asked. */
export function checkCheck(
  at: string,
  check: unknown,
  complain: Complain,
  of: 'task' | 'action' = 'task',
): void {
  if (!isData(check)) return complain(at, 'must be an object')
  const { type } = check
  const inCode = of === 'action'
  if (type === 'agent') {
    checkKnown(at, check, inCode ? [...agentKeys, 'agent'] : agentKeys, complain)
    checkText(`${at}.question`, check['question'], complain)
    checkFallback(`${at}.fallback`, check['fallback'], complain)
    if (check['to'] !== undefined) checkTo(`${at}.to`, check['to'], complain)
    return
  }
  if (type !== 'human') return complain(`${at}.type`, "must be 'human' or 'agent'")
  checkKnown(at, check, inCode ? [...humanKeys, 'schema'] : humanKeys, complain)
  checkText(`${at}.message`, check['message'], complain)
  const { onReject, editable, to } = check
  if (onReject !== undefined && onReject !== 'cancel' && onReject !== 'skip')
    complain(`${at}.onReject`, "must be 'cancel' or 'skip'")
  if (editable !== undefined && !isTexts(editable)) complain(`${at}.editable`, 'must be an array of names')
  for (const one of Array.isArray(to) ? to : to === undefined ? [] : [to]) checkTo(`${at}.to`, one, complain)
}

function checkNeeds(at: string, tasks: readonly Task[], complain: Complain): void {
  const places = new Map(tasks.map(({ id }, i) => [id, i]))
  for (const [i, { id, needs = [] }] of tasks.entries()) {
    if (places.get(id) !== i) complain(`${at}[${i}].id`, `another task is called '${id}'`)
    for (const [n, need] of needs.entries())
      if (!places.has(need)) complain(`${at}[${i}].needs[${n}]`, `there is no task '${need}'`)
    checkReferences(`${at}[${i}]`, tasks[i] as Task, complain)
  }
}

function checkReferences(at: string, task: Task, complain: Complain): void {
  if (!isAction(task)) return
  const { params, needs = [] } = task
  for (const [place, reference] of referencesIn(params, `${at}.params`)) {
    const { $result: to } = reference
    checkKnown(place, { ...reference }, ['$result', 'or'], complain)
    // Whether a result has a value there is known once it is there. Which task it is of is known now, also with `or`.
    if (typeof to !== 'string' || readReference(to, needs) === undefined)
      complain(
        `${place}.$result`,
        "must name a task in `needs`, and where in its result: 'list' or 'list.count'",
      )
  }
}

/** Returns the ids of the tasks that can never begin. */
function findCycle(tasks: readonly Task[]): readonly string[] {
  const placed = new Set(
    layersOf(tasks)
      .flat()
      .map(({ id }) => id),
  )
  return tasks.filter(({ id }) => !placed.has(id)).map(({ id }) => id)
}

/** Groups tasks by layers: a task is in the first layer after those of all that it needs. Leaves out cycles. */
export function layersOf(tasks: readonly Task[]): readonly (readonly Task[])[] {
  const waiting = new Map(tasks.map((task) => [task.id, new Set(task.needs).size]))
  const behind = new Map<string, Task[]>()
  for (const task of tasks)
    for (const need of new Set(task.needs)) {
      const known = behind.get(need)
      if (known === undefined) behind.set(need, [task])
      else known.push(task)
    }
  const layers: Task[][] = []
  for (let layer = tasks.filter(({ id }) => waiting.get(id) === 0); layer.length > 0; ) {
    layers.push(layer)
    const next: Task[] = []
    for (const { id } of layer)
      for (const task of behind.get(id) ?? []) {
        const left = (waiting.get(task.id) as number) - 1
        waiting.set(task.id, left)
        if (left === 0) next.push(task)
      }
    layer = next
  }
  return layers
}

function checkId(path: string, id: unknown, complain: Complain): void {
  if (
    typeof id !== 'string' ||
    id === '' ||
    id === '__proto__' ||
    id.length > maxActionName ||
    /\p{Cc}/u.test(id) ||
    !isWellFormed(id)
  )
    complain(path, `must be a text of 1 to ${maxActionName} characters`)
}

function checkText(path: string, text: unknown, complain: Complain): void {
  if (typeof text !== 'string' || text === '') complain(path, 'must be a text')
}

function checkFallback(path: string, fallback: unknown, complain: Complain): void {
  if (fallback !== 'reject' && fallback !== 'continue' && fallback !== 'human')
    complain(path, "must be 'reject', 'continue' or 'human'")
}

function checkTo(path: string, to: unknown, complain: Complain): void {
  try {
    checkAudience(path, to)
  } catch {
    complain(path, "must be 'user:<name>', 'group:<name>', 'role:<name>' or 'queue:<scope>/<name>'")
  }
}

function checkKnown(at: string, data: Data, known: readonly string[], complain: Complain): void {
  for (const key of Object.keys(data))
    if (!known.includes(key) && data[key] !== undefined)
      complain(`${at}.${key}`, `is not one of ${known.join(', ')}`)
}

export function isData(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
