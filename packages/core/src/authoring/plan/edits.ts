import { isEqual } from '../../base/equal.ts'
import type { Issue } from '../../base/issues.ts'
import { type ActionCheck, isAction, type PlanEdit, type Task, type TaskCheck } from './plan.ts'
import { findPlanIssues, findTaskIssues, isData, type PlanLimits } from './read-tasks.ts'

/** A plan that a planner may change. */
export interface Editable extends PlanLimits {
  readonly tasks: readonly Task[]
  readonly may: readonly string[]
  isDone(id: string): boolean
  /** What earlier versions of the plan promised to people. */
  readonly promises: Promises
}

/** What people were promised: which actions wait for which of their checks, and which actions they check. */
export interface Promises {
  /** By action: the checked tasks for which its tasks wait. */
  readonly waits: ReadonlyMap<string, ReadonlySet<string>>
  /** By task, also of one that is gone and may come back: the checked tasks for which it waits. */
  readonly tasks: ReadonlyMap<string, ReadonlySet<string>>
  readonly checked: ReadonlySet<string>
}

/** The plan after the edits, or why none is applied. */
export type Edited =
  | { readonly issues: readonly Issue[] }
  | {
      readonly tasks: readonly Task[]
      readonly skipped: readonly string[]
      readonly edits: readonly PlanEdit[]
    }

export const editOps: readonly PlanEdit['op'][] = ['add', 'skip', 'modify', 'replan']

/**
 * Returns the check of a task: the stricter one of its own and that of its action. Of two by people, or by agents, that of the action
 * counts: a task is data, and may come from an agent.
 */
export function checkOf(task: Task, { use }: Pick<PlanLimits, 'use'>): ActionCheck | undefined {
  if (!isAction(task)) return undefined
  const ofAction = use[task.use]?.check
  const own = task.check
  return rankOf(own) > rankOf(ofAction) ? own : ofAction
}

function ownCheckOf(task: Task): TaskCheck | undefined {
  return isAction(task) ? task.check : undefined
}

function rankOf(check: TaskCheck | undefined): number {
  return check === undefined ? 0 : check.type === 'agent' ? 1 : 2
}

/** Adds the promises of a version of the plan. */
export function promisesOf(tasks: readonly Task[], limits: PlanLimits, before?: Promises): Promises {
  const copy = (known: ReadonlyMap<string, ReadonlySet<string>> = new Map()): Map<string, Set<string>> =>
    new Map([...known].map(([of, guards]) => [of, new Set(guards)]))
  const [waits, waiting] = [copy(before?.waits), copy(before?.tasks)]
  const checked = new Set(before?.checked)
  for (const guard of tasks.filter((task) => isGuarded(task, limits))) {
    if (isAction(guard)) checked.add(guard.use)
    const behind = findBehind(tasks, guard.id)
    for (const task of tasks)
      if (behind.has(task.id)) {
        waiting.set(task.id, (waiting.get(task.id) ?? new Set()).add(guard.id))
        if (isAction(task)) waits.set(task.use, (waits.get(task.use) ?? new Set()).add(guard.id))
      }
  }
  return { waits, tasks: waiting, checked }
}

/** Whether people are asked about a task, at least if an agent cannot judge it. */
function isGuarded(task: Task, limits: PlanLimits): boolean {
  const judged = isAction(task) ? checkOf(task, limits) : task
  return judged !== undefined && (!('fallback' in judged) || judged.fallback === 'human')
}

/** Applies the edits of a proposal, all or none. */
export function applyEdits(plan: Editable, proposal: unknown): Edited {
  const edits = isData(proposal) ? proposal['edits'] : undefined
  if (!Array.isArray(edits)) return { issues: [{ path: 'edits', message: 'must be an array' }] }
  let draft: Draft = { tasks: plan.tasks, skipped: [] }
  for (const [i, edit] of edits.entries()) {
    const made = applyEdit(plan, draft, edit, `edits[${i}]`)
    if ('issues' in made) return made
    draft = made
  }
  const issues = [...findPlanIssues(draft.tasks, plan, 'plan'), ...findBroken(plan, draft.tasks)]
  return issues.length > 0 ? { issues } : { ...draft, edits: edits as readonly PlanEdit[] }
}

interface Draft {
  readonly tasks: readonly Task[]
  readonly skipped: readonly string[]
}

type Applied = Draft | { readonly issues: readonly Issue[] }

function applyEdit(plan: Editable, draft: Draft, edit: unknown, at: string): Applied {
  const refuse = (path: string, message: string): Applied => ({ issues: [{ path: `${at}${path}`, message }] })
  if (!isData(edit)) return refuse('', 'must be an object')
  const op = editOps.find((one) => one === edit['op'])
  if (op === undefined) return refuse('.op', `must be one of ${editOps.join(', ')}`)
  if (!plan.may.includes(op)) return refuse('.op', `the planner may not ${op}`)
  switch (op) {
    case 'add':
    case 'replan': {
      const [given, path] = op === 'add' ? [[edit['task']], '.task'] : [edit['tasks'], '.tasks']
      const issues = findTaskIssues(given, plan, `${at}${path}`)
      if (issues.length > 0) return { issues }
      const isKept = (task: Task): boolean => op === 'add' || plan.isDone(task.id) || isGuarded(task, plan)
      return { ...draft, tasks: [...draft.tasks.filter(isKept), ...(given as readonly Task[])] }
    }
    case 'skip':
    case 'modify': {
      const task = draft.tasks.find(({ id }) => id === edit['task'])
      if (task === undefined) return refuse('.task', `there is no task '${String(edit['task'])}'`)
      if (plan.isDone(task.id)) return refuse('.task', `'${task.id}' has ended`)
      if (op === 'skip')
        return isGuarded(task, plan)
          ? refuse('.task', `'${task.id}' is checked by people`)
          : skip(draft, task)
      const { params } = edit
      if (!isAction(task) || !isData(params))
        return refuse('.params', 'must be an object, for a task that acts')
      const changed = {
        ...task,
        params: { ...(task as { readonly params?: object }).params, ...params },
      } as Task
      return { ...draft, tasks: draft.tasks.map((one) => (one === task ? changed : one)) }
    }
    default:
      return op satisfies never
  }
}

/** Removes a task. What waited for it waits for what it waited for. */
function skip({ tasks, skipped }: Draft, gone: Task): Draft {
  const inherit = (task: Task): Task =>
    task.needs?.includes(gone.id) === true
      ? {
          ...task,
          needs: [...new Set([...task.needs.filter((id) => id !== gone.id), ...(gone.needs ?? [])])],
        }
      : task
  return { tasks: tasks.filter((task) => task !== gone).map(inherit), skipped: [...skipped, gone.id] }
}

/** Lists what a proposal would take from people. */
function findBroken(plan: Editable, made: readonly Task[]): readonly Issue[] {
  const issues: Issue[] = []
  const complain = (id: string, message: string): void => void issues.push({ path: id, message })
  const before = new Map(plan.tasks.map((task) => [task.id, task]))
  const after = new Map(made.map((task) => [task.id, task]))
  for (const task of plan.tasks) {
    const kept = after.get(task.id)
    if (plan.isDone(task.id) && kept !== task) complain(task.id, 'has ended, and cannot be changed')
    if (!isGuarded(task, plan) || plan.isDone(task.id)) continue
    if (kept === undefined || !isEqual({ ...kept, params: null }, { ...task, params: null }))
      complain(task.id, 'is checked by people: only its params can be changed')
  }
  const guards = plan.tasks.filter((task) => isGuarded(task, plan) && !plan.isDone(task.id))
  const behind = new Map(
    guards.map(({ id }) => [id, { before: findBehind(plan.tasks, id), after: findBehind(made, id) }]),
  )
  for (const task of made) {
    const old = before.get(task.id)
    const isNew = old === undefined || (!isEqual(old, task) && !plan.isDone(task.id))
    const own = ownCheckOf(task)
    if (own?.type === 'human' && !isEqual(own, old && ownCheckOf(old)))
      complain(task.id, 'only the author of the plan puts questions to people')
    if (old !== undefined && losesCheck(checkOf(old, plan), checkOf(task, plan)))
      complain(task.id, 'would lose its check')
    const use = isAction(task) ? task.use : undefined
    if (isNew && use !== undefined && plan.promises.checked.has(use) && !isGuarded(task, plan))
      complain(task.id, `uses '${use}', which people check`)
    for (const [guard, { before: waited, after: waits }] of behind) {
      const mustWait =
        waited.has(task.id) ||
        plan.promises.tasks.get(task.id)?.has(guard) === true ||
        (isNew && use !== undefined && plan.promises.waits.get(use)?.has(guard) === true)
      if (mustWait && !waits.has(task.id) && task.id !== guard)
        complain(task.id, `must wait for '${guard}', which people check`)
    }
  }
  return issues
}

/** Whether a check is weaker than the one before, or another one by an agent. */
function losesCheck(before: ActionCheck | undefined, after: ActionCheck | undefined): boolean {
  if (rankOf(after) !== rankOf(before)) return rankOf(after) < rankOf(before)
  return before?.type === 'agent' && before !== after && !isEqual(before, after)
}

/** Returns the ids of the tasks that wait for a task, directly or not. */
export function findBehind(tasks: readonly Task[], id: string): ReadonlySet<string> {
  const found = new Set<string>()
  const open = [id]
  for (let one = open.pop(); one !== undefined; one = open.pop())
    for (const task of tasks)
      if (!found.has(task.id) && task.needs?.includes(one) === true) {
        found.add(task.id)
        open.push(task.id)
      }
  return found
}
