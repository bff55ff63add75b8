import type { Audience } from '../../base/people.ts'
import { showValue } from '../../base/text.ts'
import { type RiskLevel, riskLevels, type Severity, severities } from '../../base/words.ts'
import { parseDuration } from '../../checks/duration.ts'
import {
  checkArray,
  checkBoolean,
  checkInstant,
  checkKeys,
  checkName,
  checkNumber,
  checkObject,
  checkOneOf,
  checkText,
  checkWhole,
  refuse,
} from '../../checks/options.ts'
import { checkAudience, readAudiences } from '../../checks/people.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { Silence } from '../../events/payloads.ts'
import type { Due, History } from '../operations.ts'
import type { Choice, RiskDetails, Section } from './ask.ts'

/** The names of the options that every ask has. */
export const askOptionNames: readonly string[] = [
  ...['to', 'timeout', 'key', 'details', 'links', 'history', 'alternatives', 'risk', 'data', 'channels'],
]

/** The options that every ask has, validated and with defaults. */
export interface AskSettings {
  readonly key: string | null
  readonly to: readonly Audience[]
  readonly due: Due | null
  readonly history: History
  readonly details: readonly Section[]
  readonly links: readonly { readonly label: string; readonly url: string }[]
  readonly alternatives: readonly { readonly label: string; readonly description?: string }[]
  readonly risk: RiskDetails | undefined
  readonly channels: readonly string[] | undefined
}

/**
 * Checks the options that every ask has. `of` names the ask in messages (`of approve`).
 * @throws PawlError 'option-invalid', 'duration-invalid'
 */
export function readAskOptions(of: string, given: unknown): AskSettings {
  const options = checkObject(`options ${of}`, given)
  checkHasTimeout(of, options)
  return {
    key: options['key'] === undefined ? null : checkName(`key ${of}`, options['key']),
    to: readAudiences(`to ${of}`, options['to']),
    due: readDue(`timeout ${of}`, options['timeout']),
    history: readHistory(`history ${of}`, options['history']),
    details: readDetails(of, options['details']),
    links: readLinks(of, options['links']),
    alternatives: readAlternatives(of, options['alternatives']),
    risk: readRisk(of, options['risk']),
    channels: readChannelNames(`channels ${of}`, options['channels']),
  }
}

/** Checks that a timeout is present. One that is undefined is accepted: it may come from the configuration. */
function checkHasTimeout(of: string, options: { readonly [name: string]: unknown }): void {
  const { onTimeout } = options
  if (onTimeout === undefined || 'timeout' in options) return
  throw new PawlError(
    'option-invalid',
    { option: `onTimeout ${of}`, given: showValue(onTimeout) },
    {
      what: `The option onTimeout ${of} needs a timeout.`,
      remedy: "Add a timeout, such as timeout: '1h'. Without one the ask waits forever.",
    },
  )
}

/** Reads a duration or an instant; null if there is none. */
export function readDue(option: string, value: unknown): Due | null {
  if (value === undefined) return null
  return value instanceof Date
    ? { atMs: checkInstant(option, value).getTime() }
    : { afterMs: parseDuration(value, option) }
}

function readHistory(option: string, value: unknown): History {
  if (value === undefined) return { last: 5 }
  if (value === 'none') return { last: 0 }
  const given = checkObject(option, value)
  checkKeys(option, given, ['last', 'steps'])
  const { last, steps } = given
  if (steps !== undefined && last === undefined)
    return { steps: checkArray(`${option}.steps`, steps).map((name) => checkText(`${option}.steps`, name)) }
  if (last !== undefined && steps === undefined) return { last: checkWhole(`${option}.last`, last, 0, 1_000) }
  return refuse(option, value, "It must be 'none', { last: 5 } or { steps: ['load'] }.")
}

const sectionForms = ['text', 'markdown', 'json', 'code', 'table', 'diff', 'image'] as const

function readDetails(of: string, value: unknown): readonly Section[] {
  return readList(`details ${of}`, value, ['title', 'body', 'as'], ({ title, body, as }) => ({
    title: checkText(`details.title ${of}`, title),
    body,
    ...(as === undefined ? {} : { as: readForm(`details.as ${of}`, as) }),
  }))
}

/** Checks the display format of a section or an artifact. */
export function readForm(option: string, value: unknown): NonNullable<Section['as']> {
  return checkOneOf(option, value, sectionForms)
}

function readLinks(of: string, value: unknown): AskSettings['links'] {
  return readList(`links ${of}`, value, ['label', 'url'], ({ label, url }) => ({
    label: checkText(`links.label ${of}`, label),
    url: checkUrl(`links.url ${of}`, url),
  }))
}

/** Checks a link that people click: web pages and mail addresses only. */
function checkUrl(option: string, value: unknown): string {
  const text = checkText(option, value)
  const protocol = URL.canParse(text) ? new URL(text).protocol : ''
  if (!['http:', 'https:', 'mailto:'].includes(protocol))
    refuse(option, value, 'It must be an absolute http, https or mailto URL.')
  return text
}

function readAlternatives(of: string, value: unknown): AskSettings['alternatives'] {
  return readList(`alternatives ${of}`, value, ['label', 'description'], ({ label, description }) => ({
    label: checkText(`alternatives.label ${of}`, label),
    ...(description === undefined
      ? {}
      : { description: checkText(`alternatives.description ${of}`, description) }),
  }))
}

function readChannelNames(option: string, value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined
  return [...new Set(checkArray(option, value).map((name) => checkName(option, name)))]
}

function readList<R>(
  option: string,
  value: unknown,
  known: readonly string[],
  read: (item: { readonly [name: string]: unknown }) => R,
): readonly R[] {
  if (value === undefined) return []
  return checkArray(option, value).map((given) => {
    if (given === undefined) refuse(option, given, 'Each item must be an object.')
    const item = checkObject(option, given)
    checkKeys(option, item, known)
    return read(item)
  })
}

function readRisk(of: string, value: unknown): RiskDetails | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string') return { level: readRiskLevel(`risk ${of}`, value) }
  const risk = checkObject(`risk ${of}`, value)
  checkKeys(`risk ${of}`, risk, ['level', 'reasons', 'reversible', 'impact'])
  const { level, reasons, reversible, impact } = risk
  return {
    level: readRiskLevel(`risk.level ${of}`, level),
    ...(reasons === undefined ? {} : { reasons: readReasons(`risk.reasons ${of}`, reasons) }),
    ...(reversible === undefined ? {} : { reversible: checkBoolean(`risk.reversible ${of}`, reversible) }),
    ...(impact === undefined ? {} : { impact: readImpact(of, impact) }),
  }
}

function readRiskLevel(option: string, value: unknown): RiskLevel {
  return checkOneOf(option, value, riskLevels)
}

function readReasons(option: string, value: unknown): readonly string[] {
  return checkArray(option, value).map((reason) => checkText(option, reason))
}

function readImpact(of: string, value: unknown): NonNullable<RiskDetails['impact']> {
  const impact = checkObject(`risk.impact ${of}`, value)
  checkKeys(`risk.impact ${of}`, impact, ['amount', 'currency', 'downtime', 'affects'])
  const { amount, currency, downtime, affects } = impact
  if (amount !== undefined)
    checkNumber(`risk.impact.amount ${of}`, amount, -Number.MAX_VALUE, Number.MAX_VALUE)
  if (currency !== undefined) checkText(`risk.impact.currency ${of}`, currency)
  if (downtime !== undefined) parseDuration(downtime, `risk.impact.downtime ${of}`)
  if (affects !== undefined) checkText(`risk.impact.affects ${of}`, affects)
  return impact
}

/** Reads a severity. */
export function readSeverity(option: string, value: unknown, otherwise: Severity): Severity {
  return value === undefined ? otherwise : checkOneOf(option, value, severities)
}

/** A choice in its object form. */
export type ReadChoice = Exclude<Choice, string>

/** Checks choices: at least one, with unique values. */
export function readChoices(option: string, value: unknown): readonly ReadChoice[] {
  const choices = checkArray(option, value).map((choice) => readChoice(option, choice))
  if (choices.length === 0) refuse(option, value, 'There must be at least one choice.')
  const values = choices.map((choice) => choice.value)
  const repeated = values.find((picked, index) => values.indexOf(picked) !== index)
  if (repeated !== undefined) refuse(option, value, `Each value must be unique; '${repeated}' occurs twice.`)
  return choices
}

function readChoice(option: string, given: unknown): ReadChoice {
  if (typeof given === 'string') return { value: checkName(option, given) }
  if (typeof given !== 'object' || given === null)
    refuse(option, given, 'Each choice must be a string or { value, label?, effect?, style? }.')
  const choice = checkObject(option, given)
  checkKeys(option, choice, ['value', 'label', 'effect', 'style'])
  const { value, label, effect, style } = choice
  return {
    value: checkName(`${option}.value`, value),
    ...(label === undefined ? {} : { label: checkText(`${option}.label`, label) }),
    ...(effect === undefined ? {} : { effect: checkText(`${option}.effect`, effect) }),
    ...(style === undefined ? {} : { style: checkOneOf(`${option}.style`, style, ['primary', 'danger']) }),
  }
}

/** Checks the editable params: each must be one of the params. */
export function readEditable(of: string, value: unknown, params: object): readonly string[] {
  if (value === undefined) return []
  const names = checkArray(`editable ${of}`, value).map((name) => checkText(`editable ${of}`, name))
  const stray = names.find((name) => !Object.hasOwn(params, name))
  if (stray !== undefined)
    refuse(
      `editable ${of}`,
      stray,
      `It must be one of the params: ${Object.keys(params).join(', ') || 'there are none'}.`,
    )
  return [...new Set(names)]
}

/** Reads what happens on the timeout of `approve`. Consent requires a stated low or medium risk. */
export function readApproveSilence(of: string, value: unknown, risk: RiskLevel | undefined): Silence {
  const option = `onTimeout ${of}`
  if (value === undefined) return { do: 'reject' }
  if (value === 'approve' && risk !== 'low' && risk !== 'medium')
    refuse(option, value, "onTimeout: 'approve' requires risk: 'low' or 'medium'.")
  return (
    readEscalate(option, value) ?? {
      do: checkOneOf(
        option,
        value,
        ['reject', 'approve', 'fail', 'keep-waiting', 'escalate'],
        ['{ escalateTo }'],
      ),
    }
  )
}

/** Reads what happens on the timeout of `input`, `select` and `review`. A default must be one of `choices`. */
export function readSilence(of: string, value: unknown, choices?: readonly ReadChoice[]): Silence {
  const option = `onTimeout ${of}`
  if (value === undefined) return { do: 'fail' }
  const escalate = readEscalate(option, value)
  if (escalate) return escalate
  if (typeof value === 'string') {
    const others = ['{ escalateTo }', '{ default }']
    return { do: checkOneOf(option, value, ['fail', 'keep-waiting', 'escalate'], others) }
  }
  const given = checkObject(option, value)
  if (!Object.hasOwn(given, 'default'))
    refuse(option, value, "It must be 'fail', 'keep-waiting', 'escalate', { escalateTo } or { default }.")
  checkKeys(option, given, ['default'])
  const values = choices?.map((choice) => choice.value)
  const otherwise =
    values === undefined ? given['default'] : checkOneOf(`onTimeout.default ${of}`, given['default'], values)
  return { do: 'default', value: otherwise }
}

function readEscalate(option: string, value: unknown): Silence | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'escalateTo')) return undefined
  const given = checkObject(option, value)
  checkKeys(option, given, ['escalateTo'])
  return { do: 'escalate', to: checkAudience(option.replace(' ', '.escalateTo '), given['escalateTo']) }
}
