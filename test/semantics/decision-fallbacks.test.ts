import type { AgentCall, Decision, Question } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { type DecideGiven, decide } from './decide.ts'
import { fail } from './support.ts'

const hang = (): Promise<never> => new Promise(() => {})

interface Fault {
  readonly what: string
  readonly why: Decision<string>['why']
  readonly verdict: () => unknown
  readonly options?: DecideGiven
  readonly calls: number
  readonly rationale: string
}

const faults: readonly Fault[] = [
  { what: 'throws', why: 'failed', verdict: () => fail('no power'), calls: 2, rationale: 'no power' },
  {
    what: 'hangs',
    why: 'timed-out',
    verdict: hang,
    options: { timeout: '5s', attempts: 1 },
    calls: 1,
    rationale: 'the attempt timed out',
  },
  {
    what: 'answers outside the choices',
    why: 'invalid',
    verdict: () => ({ choice: 'maybe', rationale: '' }),
    calls: 2,
    rationale: 'choice',
  },
  {
    what: 'gives no rationale',
    why: 'invalid',
    verdict: () => ({ choice: 'go' }),
    calls: 2,
    rationale: 'rationale',
  },
  {
    what: 'is too sure',
    why: 'invalid',
    verdict: () => ({ choice: 'go', rationale: '', confidence: 7 }),
    calls: 2,
    rationale: 'confidence',
  },
  {
    what: 'returns nothing',
    why: 'invalid',
    verdict: () => undefined,
    calls: 2,
    rationale: 'must be { choice',
  },
  {
    what: 'is unsure',
    why: 'unsure',
    verdict: () => ({ choice: 'go', rationale: 'hm', confidence: 0.7 }),
    options: { minConfidence: 0.8 },
    calls: 1,
    rationale: 'hm',
  },
  {
    what: 'does not say how sure it is',
    why: 'unsure',
    verdict: () => ({ choice: 'go', rationale: 'hm' }),
    options: { minConfidence: 0.1 },
    calls: 1,
    rationale: 'hm',
  },
]

describe('the fallback of a decision', () => {
  describe.each(faults)('when the agent $what', ({ why, verdict, options, calls, rationale }) => {
    test('the fallback choice counts, with the reason', async () => {
      await using engine = await testEngine({ procedures: [decide], agents: { judge: verdict } })
      const run = await engine.run(decide, { ...options })
      expect(await run.result()).toMatchObject({
        choice: 'stop',
        source: 'fallback',
        why,
        rationale: expect.stringContaining(rationale),
        by: 'policy:fallback',
      })
      expect(engine.calls).toEqual({ judge: calls })
    })

    test('people are asked and see the reason', async () => {
      await using engine = await testEngine({
        procedures: [decide],
        agents: { judge: verdict },
        humans: [
          { ask: 'Plausible?', answer: { choice: 'go', comment: 'I checked' }, after: '5m', as: 'user:ana' },
        ],
      })
      await engine.crash('every')
      const run = await engine.run(decide, { ...options, fallback: { ask: { to: 'group:ops' } } })
      expect(await run.result()).toMatchObject({
        choice: 'go',
        source: 'person',
        why,
        rationale: 'I checked',
        by: 'user:ana',
      })
      expect(engine.calls).toEqual({ judge: calls })
      expect((await engine.inbox.list({ status: 'answered' })).items).toMatchObject([
        {
          kind: 'decide',
          message: 'Plausible?',
          artifact: { n: 5 },
          to: ['group:ops'],
          choices: [{ value: 'go' }, { value: 'stop', label: 'Stop it' }],
        },
      ])
      expect((await engine.log(run.id)).execution_log).toMatchObject([
        { position: 0, type: 'ail_decision', status: 'done', result: { source: 'person', why } },
      ])
    })

    test('the operation fails with the reason', async () => {
      await using engine = await testEngine({ procedures: [decide], agents: { judge: verdict } })
      const run = await engine.run(decide, { ...options, fallback: { fail: 'nobody could tell' } })
      await expect(run.result()).rejects.toMatchObject({
        details: { cause: { code: 'step-failed' } },
        cause: {
          details: {
            cause: { message: expect.stringMatching(new RegExp(`nobody could tell.*${why}.*${rationale}`)) },
          },
        },
      })
    })
  })

  test('the error of a failed decision counts its attempts', async () => {
    await using engine = await testEngine({
      procedures: [decide],
      agents: { judge: { choice: 'go', rationale: 'hm', confidence: 0.1 } },
    })
    const run = await engine.run(decide, { minConfidence: 0.9, fallback: { fail: 'nobody' }, attempts: 5 })
    await expect(run.result()).rejects.toThrow("No decision was made on 'Plausible?' after 1 attempt")
  })

  test('a failed decision keeps the usage of its attempts', async () => {
    const judging = {
      judge: (_: Question, { usage, attempt }: AgentCall) => {
        usage({ inputTokens: attempt })
        return fail()
      },
    }
    for (const fallback of [{ fail: 'nobody' }, { ask: { timeout: '1m' } }] as const) {
      await using engine = await testEngine({
        procedures: [decide],
        agents: judging,
        humans: [{ ask: /./, answer: 'silence' }],
      })
      const run = await engine.run(decide, { fallback })
      await expect(run.result()).rejects.toThrow()
      expect((await engine.log(run.id)).execution_log).toMatchObject([
        { status: 'failed', result: { usage: [{ inputTokens: 1 }, { inputTokens: 2 }] } },
      ])
    }
  })
})
