import { expect, test } from 'vitest'
import { decode, encode } from '../../../../src/events/payload.ts'
import type { AskPayload } from '../../../../src/events/payloads.ts'
import type { Message } from '../../../../src/ports/store/mail.ts'
import {
  checkEarly,
  settleByInvalidAnswer,
  settleByTimeout,
} from '../../../../src/worker/activities/ask/settle.ts'

function ask(parts: Partial<AskPayload>): AskPayload {
  return { kind: 'approve', message: 'Now?', silence: { do: 'fail' }, ...parts } as AskPayload
}

function early(answer: object, at: number): Message {
  return {
    n: 1,
    kind: 'early',
    name: 'now',
    payload: encode({ answer, by: 'user:ana' }, 'answer'),
    at,
  } as Message
}

const name = { ask: '00c0ffee00c0ffee', address: 'a/0' }

test.each([
  [
    'approve',
    { kind: 'approve', silence: { do: 'approve' }, params: { n: 1 } },
    { approved: true, params: { n: 1 } },
  ],
  [
    'reject',
    { kind: 'approve', silence: { do: 'reject' }, params: { n: 1 } },
    { approved: false, params: { n: 1 } },
  ],
  ['default', { kind: 'input', silence: { do: 'default', value: 5 } }, { default: 5 }],
  ['keep-waiting', { kind: 'review', silence: { do: 'keep-waiting' }, artifact: 'x' }, { artifact: 'x' }],
] as const)('settles a timeout with onTimeout %s as a result', (_, parts, result) => {
  const { failed, payload } = settleByTimeout(ask(parts), name)
  expect(failed).toBe(false)
  expect(decode(payload)).toEqual({ timedOut: true, ...result })
})

test("settles a timeout with onTimeout 'fail' as a failure that names the ask", () => {
  const { failed, payload } = settleByTimeout(ask({}), name)
  expect(failed).toBe(true)
  expect(decode(payload)).toMatchObject({
    code: 'ask-timed-out',
    message: expect.stringContaining('ask 00c0ffee00c0ffee (a/0).'),
    details: { ask: '00c0ffee00c0ffee', address: 'a/0', message: 'Now?' },
  })
})

test('keeps the usage of the agent on the timeout of a decision by people', () => {
  const usage = [{ tokens: 7 }]
  const judged = { why: 'unsure', rationale: 'hm', usage } as const
  expect(decode(settleByTimeout(ask({ kind: 'decide', judged }), name).payload)).toMatchObject({ usage })
})

test('settles an accepted answer that the code rejects as a failure with the answer', () => {
  const answer = { answer: { approved: true }, by: 'user:ana', at: 5 }
  const refused = { issues: [{ path: 'params.n', message: 'must be a number' }] }
  const { failed, payload } = settleByInvalidAnswer(answer, refused)
  expect(failed).toBe(true)
  expect(decode(payload)).toMatchObject({ code: 'answer-invalid', details: refused, answer })
})

test('accepts an early answer that arrived before the ask would have closed', () => {
  const closing = ask({ dueAt: 100 })
  expect(checkEarly(closing, early({ approved: true }, 99))).toMatchObject({
    ok: true,
    value: { answer: { approved: true }, by: 'user:ana', at: 99 },
  })
  expect(checkEarly(closing, early({ approved: true }, 100))).toMatchObject({ ok: false })
})

test('rejects an early answer that is invalid for the ask', () => {
  expect(checkEarly(ask({}), early({ approved: 'yes' }, 1))).toMatchObject({ ok: false })
})
