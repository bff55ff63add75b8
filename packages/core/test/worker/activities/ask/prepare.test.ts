import { expect, test } from 'vitest'
import type { AskSpec } from '../../../../src/authoring/operations.ts'
import type { AskPayload, Silence } from '../../../../src/events/payloads.ts'
import {
  checkSilence,
  composeAsk,
  composeRow,
  findUnstorable,
  invalidDefault,
} from '../../../../src/worker/activities/ask/prepare.ts'

function spec(parts: Partial<AskSpec> = {}, payload: Partial<AskPayload> = {}): AskSpec {
  return {
    key: null,
    to: ['group:ops'],
    due: null,
    history: { last: 3 },
    payload: { kind: 'input', message: 'How many?', silence: { do: 'default', value: '5' }, ...payload },
    check: undefined,
    ...parts,
  } as AskSpec
}

test('replaces a default by the output of the schema', async () => {
  const check = (value: unknown) => ({ ok: true as const, value: Number(value) })
  const asNumber = { ok: true, value: { do: 'default', value: 5 } }
  expect(checkSilence(spec({ check }))).toEqual(asNumber)
  expect(await checkSilence(spec({ check: async (value) => check(value) }))).toEqual(asNumber)
})

test('validates only the default of an input', () => {
  const check = () => expect.fail('called')
  const approves = { do: 'approve' } as const
  expect(checkSilence(spec({ check }, { kind: 'approve', silence: approves }))).toEqual({
    ok: true,
    value: approves,
  })
})

test('reports an invalid default as a misuse, with its path', () => {
  const refused = { issues: [{ path: 'n', message: 'must be a number' }] }
  const error = invalidDefault(spec(), refused)
  expect(error).toMatchObject({ code: 'option-invalid' })
  expect(error.message).toContain('onTimeout.default.n of input')
})

test('reports a default that cannot be stored as a misuse', () => {
  expect(findUnstorable({ do: 'default', value: 5 })).toBeNull()
  expect(findUnstorable({ do: 'default', value: () => 5 })).toMatchObject({ code: 'payload-refused' })
})

test('starts the timeout when the ask is composed', () => {
  const silence: Silence = { do: 'fail' }
  const parts = { silence, history: [], escalateTo: undefined, starters: [], now: 1_000 }
  expect(composeAsk(spec({ due: { afterMs: 50 } }), parts)).toMatchObject({ silence, dueAt: 1_050 })
  expect(composeAsk(spec({ due: { atMs: 7 } }), parts)).toMatchObject({ dueAt: 7 })
  expect(composeAsk(spec(), parts)).not.toHaveProperty('dueAt')
})

test('says who may answer, and who may once it is overdue', () => {
  const silence: Silence = { do: 'escalate' }
  const parts = { history: [], escalateTo: 'group:duty', starters: [], now: 1_000 }
  expect(composeAsk(spec(), { ...parts, silence })).toMatchObject({
    ...{ to: ['group:ops'], escalateTo: ['group:duty'] },
  })
  expect(composeAsk(spec(), { ...parts, silence: { do: 'fail' } })).not.toHaveProperty('escalateTo')
})

test('gives an ask that stays open after its deadline a due time and no closing time', () => {
  const silence: Silence = { do: 'keep-waiting' }
  const ask = composeAsk(spec({ due: { afterMs: 50 } }), {
    ...{ silence, history: [], escalateTo: undefined, starters: [], now: 1_000 },
  })
  const parts = {
    position: 3,
    spec: spec({ key: 'k' }),
    payload: new Uint8Array(),
    answered: null,
  }
  expect(composeRow(ask, parts)).toMatchObject({
    ...{ position: 3, key: 'k', kind: 'input', to: ['group:ops'] },
    ...{ dueAt: 1_050, closesAt: null },
  })
})
