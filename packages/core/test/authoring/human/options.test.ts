import { describe, expect, test } from 'vitest'
import { escalation } from '../../../src/authoring/human/context.ts'
import {
  askOptions,
  checkForm,
  readApproveSilence,
  readAskOptions,
  readChoices,
  readEditable,
  readSilence,
} from '../../../src/authoring/human/options.ts'

const read = (options?: unknown) => readAskOptions('of approve', options, askOptions)

describe('the options of every ask', () => {
  test('uses the documented defaults for asks', () => {
    expect(read()).toEqual({
      key: null,
      to: [],
      timeout: null,
      history: { last: 5 },
      details: [],
      links: [],
      alternatives: [],
      data: {},
    })
  })

  test('reads durations in milliseconds, and instants as given', () => {
    expect(read({ timeout: '1h' }).timeout).toEqual({ afterMs: 3_600_000 })
    expect(read({ timeout: new Date(7) }).timeout).toEqual({ atMs: 7 })
    expect(read({ to: 'role:boss', key: 'refund?' })).toMatchObject({ to: ['role:boss'], key: 'refund?' })
  })

  test('reads which earlier steps to show', () => {
    expect(read({ history: 'none' }).history).toEqual({ last: 0 })
    expect(read({ history: { last: 2 } }).history).toEqual({ last: 2 })
    expect(read({ history: { steps: ['load'] } }).history).toEqual({ steps: ['load'] })
  })

  test('reads what to show beside the message', () => {
    const details = [{ title: 'Why', body: { any: 'thing' }, as: 'json' }]
    const links = [{ label: 'Preview', url: 'https://preview.example/a' }]
    const alternatives = [{ label: 'Archive it', description: 'keeps the files' }, { label: 'Wait' }]
    expect(read({ details, links, alternatives })).toMatchObject({ details, links, alternatives })
  })

  test('reads a risk as a word or as details', () => {
    expect(read({ risk: 'high' }).risk).toEqual({ level: 'high' })
    const risk = {
      level: 'critical',
      reasons: ['destructive'],
      reversible: false,
      impact: { amount: 500, currency: 'EUR', downtime: '2h', affects: '500 products' },
    }
    expect(read({ risk }).risk).toEqual(risk)
  })

  test.each([
    [{ timeout: 3600 }, 'a bare number has no unit'],
    [{ timeout: 'soon' }, '(timeout of approve)'],
    [{ timeout: new Date(Number.NaN) }, 'It must be a valid Date.'],
    [{ key: '' }, 'The option key of approve'],
    [{ to: 'ana' }, 'The option to of approve'],
    [{ history: 5 }, "It must be 'none', { last: 5 } or { steps: ['load'] }."],
    [{ history: null }, "It must be 'none', { last: 5 } or { steps: ['load'] }."],
    [{ history: {} }, "It must be 'none', { last: 5 } or { steps: ['load'] }."],
    [{ history: { last: -1 } }, 'history of approve.last'],
    [{ history: { steps: 'load' } }, 'It must be an array.'],
    [{ details: { title: 'Why' } }, 'It must be an array.'],
    [{ details: [{ body: 1 }] }, 'details.title of approve'],
    [{ details: [{ title: 'Why', text: 1 }] }, 'Known options: title, body, as.'],
    [{ details: [{ title: 'Why', body: 1, as: 'html' }] }, 'details.as of approve'],
    [{ details: [undefined] }, 'Each item must be an object.'],
    [{ links: [{ label: 'Preview' }] }, 'links.url of approve'],
    [
      { links: [{ label: 'Run', url: 'javascript:alert(1)' }] },
      'It must be an absolute http, https or mailto URL.',
    ],
    [{ links: [{ label: 'Run', url: '/preview' }] }, 'It must be an absolute http, https or mailto URL.'],
    [{ alternatives: ['wait'] }, 'It must be an object.'],
    [{ alternatives: [{ label: '' }] }, 'alternatives.label of approve'],
    [{ risk: 'extreme' }, "It must be one of 'low', 'medium', 'high', 'critical', { level,"],
    [{ risk: null }, "cannot be null. It must be one of 'low', 'medium', 'high', 'critical', { level,"],
    [{ risk: { reasons: ['external'] } }, 'risk.level of approve'],
    [{ risk: { level: 'low', reasons: 'external' } }, 'It must be an array.'],
    [{ risk: { level: 'low', reversible: 'yes' } }, 'It must be true or false.'],
    [{ risk: { level: 'low', cost: 3 } }, 'Known options: level, reasons, reversible, impact.'],
    [{ risk: { level: 'low', impact: { amount: '500' } } }, 'risk.impact.amount of approve'],
    [{ risk: { level: 'low', impact: { downtime: 5 } } }, '(risk.impact.downtime of approve)'],
    [{ risk: { level: 'low', impact: { currency: 1 } } }, 'risk.impact.currency of approve'],
    [{ risk: { level: 'low', impact: { affects: 1 } } }, 'risk.impact.affects of approve'],
  ])('rejects the ask options %j', (options, message) => {
    expect(() => read(options)).toThrow(message)
  })
})

describe('choices', () => {
  const choices = (given: unknown) => readChoices('choices of select', given)

  test('reads choices as words or objects', () => {
    const more = { value: 'stop', label: 'Stop', effect: 'ends the run', style: 'danger' }
    expect(choices(['go', more])).toEqual([{ value: 'go' }, more])
  })

  test.each([
    [undefined, 'It must be an array.'],
    [[], 'There must be at least one choice.'],
    [[1], 'Each choice must be a string or { value, label?, effect?, style? }.'],
    [[undefined], 'Each choice must be a string or'],
    [[''], 'It must be a non-empty string.'],
    [['go', { value: 'go' }], "Each value must be unique; 'go' occurs twice."],
    [[{ label: 'Go' }], 'choices.value of select'],
    [[{ value: 'go', style: 'green' }], "It must be one of 'primary', 'danger'."],
    [[{ value: 'go', text: 'Go' }], 'Known options: value, label, effect, style.'],
  ])('rejects the choices %j', (given, message) => {
    expect(() => choices(given)).toThrow(message)
  })
})

describe('editable params', () => {
  test('requires editable params to be among the params', () => {
    const params = { amount: 1, card: 'visa' }
    expect(readEditable('of approve', ['amount', 'amount'], params)).toEqual(['amount'])
    expect(readEditable('of approve', undefined, params)).toEqual([])
    expect(() => readEditable('of approve', ['total'], params)).toThrow(
      'It must be one of the params: amount, card.',
    )
    expect(() => readEditable('of approve', ['toString'], {})).toThrow(
      'It must be one of the params: there are none.',
    )
    expect(() => readEditable('of approve', 'amount', params)).toThrow('It must be an array.')
  })
})

describe('onTimeout', () => {
  test('rejects an approval on timeout by default', () => {
    expect(readApproveSilence('of approve', undefined, undefined)).toEqual({ do: 'reject' })
    for (const word of ['reject', 'fail', 'keep-waiting', 'escalate'])
      expect(readApproveSilence('of approve', word, 'critical')).toEqual({ do: word })
    const escalated = readApproveSilence('of approve', { escalateTo: 'role:boss' }, undefined)
    expect(escalated).toEqual({ do: 'escalate', to: 'role:boss' })
  })

  test('approves on timeout only with a stated low or medium risk', () => {
    expect(readApproveSilence('of approve', 'approve', 'low')).toEqual({ do: 'approve' })
    expect(readApproveSilence('of approve', 'approve', 'medium')).toEqual({ do: 'approve' })
    for (const risk of ['high', 'critical', undefined] as const)
      expect(() => readApproveSilence('of approve', 'approve', risk)).toThrow(
        "requires risk: 'low' or 'medium'",
      )
  })

  test('fails other asks on timeout by default', () => {
    expect(readSilence('of select', undefined)).toEqual({ do: 'fail' })
    expect(readSilence('of select', 'keep-waiting')).toEqual({ do: 'keep-waiting' })
    expect(readSilence('of select', { escalateTo: 'group:ops' })).toEqual({ do: 'escalate', to: 'group:ops' })
    expect(readSilence('of input', { default: { name: 'anonymous' } })).toEqual({
      do: 'default',
      value: { name: 'anonymous' },
    })
    expect(readSilence('of input', { default: undefined })).toEqual({ do: 'default', value: undefined })
    expect(readSilence('of select', { default: 'go' }, [{ value: 'go' }])).toEqual({
      do: 'default',
      value: 'go',
    })
  })

  test.each([
    [() => readApproveSilence('of approve', { default: true }, 'low'), 'onTimeout of approve'],
    [
      () => readApproveSilence('of approve', { escalateTo: 'boss' }, 'low'),
      'onTimeout.escalateTo of approve',
    ],
    [
      () => readApproveSilence('of approve', { escalateTo: 'role:boss', after: 1 }, 'low'),
      'Known options: escalateTo.',
    ],
    [
      () => readSilence('of select', 'approve'),
      "It must be one of 'fail', 'keep-waiting', 'escalate', { escalateTo }, { default }.",
    ],
    [() => readSilence('of select', {}), 'or { default }.'],
    [() => readSilence('of select', { default: 'go', also: 1 }), 'Known options: default.'],
    [() => readSilence('of select', { default: 'wait' }, [{ value: 'go' }]), "It must be one of 'go'."],
    [() => readSilence('of select', 7), "It must be 'fail', 'keep-waiting', 'escalate', { escalateTo } or"],
    [() => readSilence('of review', null), "onTimeout of review cannot be null. It must be 'fail',"],
  ])('rejects the invalid onTimeout %#', (reading, message) => {
    expect(reading).toThrow(message)
  })
})

test.each([
  [{ timeout: null }, 'The option timeout of escalate cannot be null'],
  [{ onTimeout: null }, 'The option onTimeout of escalate cannot be null'],
  [{ onTimeout: 'fail' }, "The option onTimeout of escalate cannot be 'fail'"],
])('escalate refuses %j, and says what to use instead', (options, message) => {
  expect(() => escalation('Totals differ', options)).toThrow(message)
  expect(() => escalation('Totals differ', options)).toThrow('use select with a timeout instead')
})

test('checks display formats', () => {
  expect(checkForm('as of review', 'diff')).toBe('diff')
  expect(() => checkForm('as of review', 'html')).toThrow('as of review')
})
