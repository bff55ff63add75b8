import { decider, procedure } from '@pawl/core'
import { explore, oneOf } from '@pawl/testing'
import { expect, test } from 'vitest'

const never = [{ step: 'update', unless: 'approved' as const }]
const judge = decider('judge', () => Promise.reject(new Error('not called')))

function updating(policy: 'allow' | 'agent' | 'human') {
  return procedure({ name: 'updating' }, async (ctx) => {
    const updated = await ctx.gate('update', {
      params: { percent: 10 },
      policy: () => policy,
      agent: { agent: judge },
      human: {
        message: 'Change prices by {percent} %?',
        editable: ['percent'],
        timeout: '4h',
        onTimeout: 'reject',
      },
      facts: () => 0,
      run: () => {},
    })
    return updated.done ? 'updated' : updated.reason
  })
}

test('a gate acts with the yes of a person only, however often the facts change', async () => {
  const report = await explore(updating('human'), undefined, {
    ...{ never, cancel: true, steps: { 'update · facts': oneOf(1, 2) } },
  })
  expect(report).toMatchObject({ violations: [], truncated: false })
  expect(Object.keys(report.ends).sort()).toEqual([
    ...[
      'cancelled',
      'completed: changing',
      'completed: rejected',
      'completed: timed-out',
      'completed: updated',
    ],
  ])
})

test('a gate that asks an agent, or no one, breaks a rule that wants a person', async () => {
  const byAgent = await explore(updating('agent'), undefined, { never })
  expect(byAgent.violations).toMatchObject([
    {
      step: 'update',
      why: 'an agent said yes, and no person',
      outcomes: ['update?: the agent says approve'],
    },
  ])
  const byPolicy = await explore(updating('allow'), undefined, { never })
  expect(byPolicy.violations).toMatchObject([{ step: 'update', why: 'no person said yes', outcomes: [] }])
})
