import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { agentDefinitionOf } from '../../../src/authoring/agent/agent.ts'
import { agent, decider } from '../../../src/index.ts'
import { validate } from '../../../src/schemas/schema.ts'

const input = z.object({ topic: z.string() })
const output = z.object({ text: z.string() })
const body = async (): Promise<{ text: string }> => ({ text: 'x' })
const writer = agent({ name: 'writer', input, output, retry: { attempts: 5 }, timeout: '30s' }, body)

describe('an agent', () => {
  test('exposes the name of an agent and holds its code', () => {
    expect(writer).toEqual({ name: 'writer' })
    expect(agentDefinitionOf(writer)).toMatchObject({
      ...{ name: 'writer', input, output, body },
      policy: { retry: { attempts: 5, backoffMs: 1_000 }, timeoutMs: 30_000 },
    })
    expect(agentDefinitionOf({ name: 'writer' })).toBeUndefined()
    expect(agentDefinitionOf(undefined)).toBeUndefined()
  })

  test('recognizes an agent of another copy of the package', async () => {
    vi.resetModules()
    const copy = await import('../../../src/authoring/agent/agent.ts')
    expect(copy.agentDefinitionOf(writer)?.name).toBe('writer')
  })

  test.each<[object, string]>([
    [{ input, output }, 'The option name of agent cannot be undefined.'],
    [{ name: 'a', output }, "The option input of agent 'a'"],
    [{ name: 'a', input }, "The option output of agent 'a'"],
    [{ name: 'a', input, output, timeout: 30 }, "(timeout of agent 'a')"],
    [{ name: 'a', input, output, retry: { attempts: 0 } }, "retry.attempts of agent 'a'"],
    [{ name: 'a', input, output, model: 'm' }, 'There is no option model in the options of agent.'],
  ])('rejects the agent options %j', (spec, message) => {
    expect(() => agent(spec as never, body as never)).toThrow(message)
  })

  test('rejects an agent without a body', () => {
    expect(() => agent({ name: 'a', input, output }, undefined as never)).toThrow("body of agent 'a'")
  })
})

describe('a decider', () => {
  const critic = decider('critic', async () => ({ choice: 'go', rationale: 'fine' }))

  test('creates a decider as an agent without an input schema', () => {
    expect(critic).toEqual({ name: 'critic' })
    expect(agentDefinitionOf(critic)).toMatchObject({ name: 'critic', input: undefined })
    expect(() => decider('', async () => ({ choice: 'go', rationale: '' }))).toThrow('name of decider')
  })

  test('requires a decider to return a verdict', () => {
    const check = (value: unknown) => {
      const schema = agentDefinitionOf(critic)?.output
      return schema && validate(schema, value)
    }
    const verdict = { choice: 'go', rationale: 'fine', confidence: 0.5 }
    expect(check(verdict)).toEqual({ ok: true, value: verdict })
    expect(check({ choice: 'go', rationale: '' })).toMatchObject({ ok: true })
    expect(check('go')).toMatchObject({
      issues: [{ path: '', message: 'it must be { choice, rationale, confidence? }' }],
    })
    expect(check({ confidence: 80 })).toEqual({
      ok: false,
      issues: [
        { path: 'choice', message: 'must be a string' },
        { path: 'rationale', message: 'must be a string' },
        { path: 'confidence', message: 'must be a number from 0 to 1' },
      ],
    })
  })
})
