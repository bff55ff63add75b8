import fc from 'fast-check'
import { applyEdits, checkOf, promisesOf } from '../../../../src/authoring/plan/edits.ts'
import { type Actions, isAction, type Task } from '../../../../src/authoring/plan/plan.ts'

const run = (): void => {}
const asks = { type: 'human', message: 'Do it?' } as const

/** Actions: two of them are checked by people, one by an agent. */
const use: Actions = {
  draft: { run },
  render: { run },
  judged: { run, check: { type: 'agent', question: 'Fine?', fallback: 'reject' } },
  publish: { run, check: asks },
  pay: { run, check: asks },
  tweet: { run },
  tell: { run },
}
const uses = Object.keys(use)
const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
export const limits = { use, maxTasks: 12 }

const needs = fc.uniqueArray(fc.constantFrom(...ids), { maxLength: 3 })
const check = fc.option(
  fc.constantFrom<Task['verify'] | object>(asks, { type: 'agent', question: 'ok?', fallback: 'continue' }),
  { nil: undefined, freq: 4 },
)

/** A task of any shape: mostly valid. */
const anyTask = fc
  .record({ id: fc.constantFrom(...ids, 'h', 'i', 'j'), use: fc.constantFrom(...uses, 'rm'), needs, check })
  .map(({ check: own, ...task }) => (own === undefined ? task : { ...task, check: own }) as Task)

/** A plan of an author: later tasks need earlier ones. */
const plans = fc
  .array(fc.record({ use: fc.constantFrom(...uses), needs, isChecked: fc.boolean() }), {
    minLength: 2,
    maxLength: ids.length,
  })
  .map((given) =>
    given.map(
      ({ use, needs: wanted, isChecked }, i): Task => ({
        ...{ id: ids[i] as string, use },
        needs: wanted.filter((id) => ids.indexOf(id) < i),
        ...(isChecked && use === 'tell' ? { check: asks } : {}),
      }),
    ),
  )

const edit = fc.oneof(
  fc.record({ op: fc.constant('add'), task: anyTask, reason: fc.constant('x') }),
  fc.record({ op: fc.constant('skip'), task: fc.constantFrom(...ids), reason: fc.constant('x') }),
  fc.record({
    op: fc.constant('modify'),
    task: fc.constantFrom(...ids),
    params: fc.constant({ n: 1 }),
    reason: fc.constant('x'),
  }),
  fc.record({
    op: fc.constant('replan'),
    tasks: fc.array(anyTask, { maxLength: 4 }),
    reason: fc.constant('x'),
  }),
)

/** A plan, how much of it has ended, and proposals that come one after the other. */
export const attacks = fc.record({
  plan: plans,
  ended: fc.nat(3),
  proposals: fc.array(fc.array(edit, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
})

type Attack = typeof attacks extends fc.Arbitrary<infer A> ? A : never

/** Returns what people have lost by an attack, and the number of proposals that were applied. */
export function play({ plan, ended, proposals }: Attack): {
  readonly lost: readonly string[]
  readonly applied: number
} {
  const isDone = endedOf(plan, ended)
  let tasks: readonly Task[] = plan
  let promises = promisesOf(plan, limits)
  let applied = 0
  for (const edits of proposals) {
    const made = applyEdits(
      { ...limits, tasks, may: ['add', 'skip', 'modify', 'replan'], isDone, promises },
      { edits, rationale: '' },
    )
    if ('issues' in made) continue
    applied++
    tasks = made.tasks
    promises = promisesOf(tasks, limits, promises)
  }
  return { lost: findLost(plan, tasks, isDone), applied }
}

/** The first tasks of a plan whose needs have ended. */
function endedOf(plan: readonly Task[], ended: number): (id: string) => boolean {
  const done = new Set<string>()
  for (const { id, needs = [] } of plan)
    if (done.size < ended && needs.every((need) => done.has(need))) done.add(id)
  return (id) => done.has(id)
}

/** Written without the code it judges: walks up from each task instead of down from each check. */
function findLost(
  before: readonly Task[],
  after: readonly Task[],
  isDone: (id: string) => boolean,
): readonly string[] {
  const lost: string[] = []
  const isAsked = (task: Task): boolean => checkOf(task, limits)?.type === 'human'
  const above = (tasks: readonly Task[], id: string): ReadonlySet<string> => {
    const needed = tasks.find((task) => task.id === id)?.needs ?? []
    return new Set(needed.flatMap((need) => [need, ...above(tasks, need)]))
  }
  for (const guard of before) {
    if (!isAsked(guard) || isDone(guard.id)) continue
    const kept = after.find(({ id }) => id === guard.id)
    if (kept === undefined || !isAsked(kept)) {
      lost.push(`${guard.id} lost its check`)
      continue
    }
    if (isAction(guard) && isAction(kept) && kept.use !== guard.use)
      lost.push(`${guard.id} does something else`)
    const followers = before.filter(({ id }) => above(before, id).has(guard.id))
    const theirs = new Set(followers.filter(isAction).map(({ use }) => use))
    for (const task of after) {
      if (task.id === guard.id || isDone(task.id) || above(after, task.id).has(guard.id)) continue
      const old = before.find(({ id }) => id === task.id)
      if (followers.some(({ id }) => id === task.id)) lost.push(`${task.id} no longer follows ${guard.id}`)
      else if (old === undefined && isAction(task) && theirs.has(task.use))
        lost.push(`${task.id} does beside ${guard.id} what followed it`)
    }
  }
  for (const task of after) {
    const old = before.find(({ id }) => id === task.id)
    const own = isAction(task) ? task.check : undefined
    if (own?.type === 'human' && (old === undefined || !isAction(old) || old.check?.type !== 'human'))
      lost.push(`${task.id} asks people`)
    const asked = before
      .filter(isAsked)
      .filter(isAction)
      .map(({ use }) => use)
    if (old === undefined && isAction(task) && asked.includes(task.use) && !isAsked(task))
      lost.push(`${task.id} does unasked what people check`)
  }
  return lost
}
