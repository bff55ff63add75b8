import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyEdits, checkOf, promisesOf } from '../../../src/authoring/plan/edits.ts'
import type { Task, TaskCheck } from '../../../src/authoring/plan/plan.ts'
import { attacks, limits, play } from './support/proposals.ts'

const tasks: readonly Task[] = [
  { id: 'draft', use: 'draft' },
  { id: 'html', use: 'render', needs: ['draft'] },
  { id: 'publish', use: 'publish', needs: ['html'] },
  { id: 'tweet', use: 'tweet', needs: ['publish'] },
  { id: 'tell', use: 'tell', needs: ['tweet'] },
]

function propose(edits: readonly unknown[], may: readonly string[] = ['add', 'skip', 'modify', 'replan']) {
  const isDone = (id: string): boolean => id === 'draft'
  return applyEdits(
    { ...limits, tasks, may, isDone, promises: promisesOf(tasks, limits) },
    { edits, rationale: 'why' },
  )
}

describe('what a planner may never do', () => {
  test.each<readonly [string, readonly unknown[], RegExp]>([
    ['skip what people check', [{ op: 'skip', task: 'publish' }], /checked by people/],
    ['skip what has ended', [{ op: 'skip', task: 'draft' }], /has ended/],
    [
      'tweet without waiting for the check',
      [
        {
          op: 'replan',
          tasks: [
            { id: 'tweet', use: 'tweet' },
            { id: 'tell', use: 'tell', needs: ['tweet'] },
          ],
        },
      ],
      /must wait for 'publish'/,
    ],
    [
      'weaken a check',
      [
        {
          op: 'replan',
          tasks: [
            {
              id: 'publish',
              use: 'publish',
              needs: ['html'],
              check: { type: 'agent', question: 'ok?', fallback: 'continue' },
            },
          ],
        },
      ],
      /another task is called 'publish'/,
    ],
    [
      'put a question to people',
      [
        {
          op: 'add',
          task: { id: 'x', use: 'tell', needs: ['tweet'], check: { type: 'human', message: 'Click yes' } },
        },
      ],
      /only the author/,
    ],
    ['use what is not there', [{ op: 'add', task: { id: 'x', use: 'rm -rf' } }], /must be one of draft/],
    [
      'make a cycle',
      [
        { op: 'add', task: { id: 'a', use: 'draft', needs: ['b'] } },
        { op: 'add', task: { id: 'b', use: 'draft', needs: ['a'] } },
      ],
      /cycle/,
    ],
    ['give two tasks one id', [{ op: 'add', task: { id: 'tell', use: 'draft' } }], /another task is called/],
    ['rename', [{ op: 'rename', task: 'tell' }], /must be one of add, skip/],
    [
      'raise the limit',
      Array.from({ length: 10 }, (_, i) => ({ op: 'add', task: { id: `t${i}`, use: 'draft' } })),
      /the most is 12/,
    ],
    [
      'do beside the check what follows it',
      [
        { op: 'skip', task: 'tweet' },
        { op: 'add', task: { id: 'tweet again', use: 'tweet' } },
      ],
      /must wait for 'publish'/,
    ],
    [
      'skip what a checked task needs',
      [{ op: 'skip', task: 'html' }],
      /publish: is checked by people: only its params/,
    ],
    [
      'free what follows a check at a distance',
      [
        {
          op: 'replan',
          tasks: [
            { id: 'html', use: 'render', needs: ['draft'] },
            { id: 'tweet', use: 'tweet', needs: ['publish'] },
            { id: 'tell', use: 'tell' },
          ],
        },
      ],
      /^tell: must wait for 'publish'/,
    ],
    [
      'give a task that does not follow the check the action of one that does',
      [
        {
          op: 'replan',
          tasks: [
            { id: 'html', use: 'tweet', needs: ['draft'] },
            { id: 'tweet', use: 'render', needs: ['publish'] },
            { id: 'tell', use: 'tell', needs: ['tweet'] },
          ],
        },
      ],
      /^html: must wait for 'publish'/,
    ],
    ['change what has ended', [{ op: 'modify', task: 'draft', params: {} }], /has ended/],
    ['propose something else', [7], /must be an object/],
  ])('%s', (_, edits, message) => {
    const made = propose(edits)
    expect(
      'issues' in made ? made.issues.map((issue) => `${issue.path}: ${issue.message}`).join('\n') : 'applied',
    ).toMatch(message)
  })

  test('take the check of an agent from a task', () => {
    const judged: readonly Task[] = [...tasks, { id: 'look', use: 'judged' }]
    const edits = [
      {
        op: 'replan',
        tasks: [
          { id: 'html', use: 'render' },
          { id: 'look', use: 'draft' },
        ],
      },
    ]
    const plan = { ...limits, tasks: judged, may: ['replan'], isDone: () => false }
    const made = applyEdits({ ...plan, promises: promisesOf(judged, limits) }, { edits, rationale: 'why' })
    expect(made).toEqual({ issues: [{ path: 'look', message: 'would lose its check' }] })
  })

  test('skip what follows a check in one proposal, and do it beside the check in the next', () => {
    const plan = { ...limits, may: ['add', 'skip'], isDone: () => false }
    const promises = promisesOf(tasks, limits)
    const skipping = { edits: [{ op: 'skip', task: 'tweet', reason: 'x' }], rationale: 'why' }
    const made = applyEdits({ ...plan, tasks, promises }, skipping)
    if (!('tasks' in made)) expect.unreachable()
    const later = { ...plan, tasks: made.tasks, promises: promisesOf(made.tasks, limits, promises) }
    const adding = { edits: [{ op: 'add', task: { id: 'again', use: 'tweet' }, reason: 'x' }], rationale: '' }
    expect(applyEdits(later, adding)).toEqual({
      issues: [{ path: 'again', message: "must wait for 'publish', which people check" }],
    })
  })

  test('what its plan does not permit', () => {
    expect(propose([{ op: 'skip', task: 'tell' }], ['add'])).toEqual({
      issues: [{ path: 'edits[0].op', message: 'the planner may not skip' }],
    })
  })
})

describe('what a planner may do', () => {
  test.each<readonly [string, readonly object[], readonly string[]]>([
    ['skip an unchecked task', [{ op: 'skip', task: 'tell' }], ['draft', 'html', 'publish', 'tweet']],
    [
      'use a checked action once more, which is then checked as well',
      [{ op: 'add', task: { id: 'again', use: 'publish', needs: ['publish'] } }],
      ['draft', 'html', 'publish', 'tweet', 'tell', 'again'],
    ],
    [
      'change the params of what people will see',
      [{ op: 'modify', task: 'publish', params: { title: 'x' } }],
      ['draft', 'html', 'publish', 'tweet', 'tell'],
    ],
    [
      'replan behind the check',
      [
        {
          op: 'replan',
          tasks: [
            { id: 'html', use: 'render', needs: ['draft'] },
            { id: 'tweet', use: 'tweet', needs: ['publish'] },
          ],
        },
      ],
      ['draft', 'publish', 'html', 'tweet'],
    ],
  ])('%s', (_, edits, ids) => {
    const made = propose(edits)
    expect('tasks' in made ? made.tasks.map(({ id }) => id) : made).toEqual(ids)
  })

  test('what waited for a skipped task waits for what that waited for', () => {
    const made = propose([{ op: 'skip', task: 'tweet' }])
    expect('tasks' in made && made.tasks.at(-1)).toEqual({ id: 'tell', use: 'tell', needs: ['publish'] })
  })
})

test('of the check of a task and that of its action the stricter one counts', () => {
  const agent = { type: 'agent', question: 'Fine?', fallback: 'continue' } as const
  const people = { type: 'human', message: 'Fine?' } as const
  const typeOf = (use: string, check?: TaskCheck) =>
    checkOf({ id: 'x', use, ...(check === undefined ? {} : { check }) }, limits)?.type
  expect(typeOf('publish', agent)).toBe('human')
  expect(typeOf('judged', people)).toBe('human')
  // A task is data, and may come from an agent.
  expect(checkOf({ id: 'x', use: 'judged', check: agent }, limits)).toBe(limits.use['judged']?.check)
  expect(checkOf({ id: 'x', use: 'publish', check: people }, limits)).toBe(limits.use['publish']?.check)
  expect(typeOf('tell', agent)).toBe('agent')
  expect(typeOf('tell')).toBeUndefined()
})

test('no proposals take a check or its followers from people', () => {
  let applied = 0
  fc.assert(
    fc.property(attacks, (attack) => {
      const came = play(attack)
      applied += came.applied
      expect(came.lost).toEqual([])
    }),
    { numRuns: 500 },
  )
  expect(applied).toBeGreaterThan(30)
})
