import type { Duration } from '../../base/duration.ts'
import type { Audience } from '../../base/people.ts'
import { showValue } from '../../base/text.ts'
import { type CommentRule, commentRules, formats, type RiskLevel, riskLevels } from '../../base/words.ts'
import { parseDuration } from '../../checks/duration.ts'
import {
  checkArray,
  checkBoolean,
  checkInstant,
  checkKeys,
  checkName,
  checkObject,
  checkOneOf,
  checkShown,
  checkText,
  checkWhole,
  partOf,
  refuse,
} from '../../checks/options.ts'
import { checkAudience, readAudiences } from '../../checks/people.ts'
import {
  anything,
  type Check,
  number,
  oneOf,
  optional,
  type Rows,
  type RowsOf,
  readOptions,
  readPart,
  required,
  type Spec,
  type Values,
} from '../../checks/spec.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { AskPayload, Silence } from '../../events/payloads.ts'
import type { Due, History } from '../operations.ts'
import type {
  Alternative,
  AskOptions,
  Choice,
  ChoiceDetails,
  Impact,
  Link,
  RiskDetails,
  Section,
} from './ask.ts'

const sectionOptions = {
  title: required(checkShown),
  body: required(anything),
  as: optional(checkForm),
} satisfies Spec<Section>

const linkOptions = { label: required(checkShown), url: required(checkUrl) } satisfies Spec<Link>

const alternativeOptions = {
  label: required(checkShown),
  description: optional(checkShown),
} satisfies Spec<Alternative>

const impactOptions = {
  amount: optional(number(-Number.MAX_VALUE, Number.MAX_VALUE)),
  currency: optional(checkShown),
  downtime: optional(checkDuration),
  affects: optional(checkShown),
} satisfies Spec<Impact>

const riskOptions = {
  level: required(oneOf(riskLevels)),
  reasons: optional(checkReasons),
  reversible: optional(checkBoolean),
  impact: optional((option, value) => readPart(option, value, impactOptions)),
} satisfies Spec<RiskDetails>

const choiceOptions = {
  value: required(checkName),
  label: optional(checkShown),
  effect: optional(checkShown),
  style: optional(oneOf(['primary', 'danger'])),
} satisfies Spec<ChoiceDetails>

/** The options that every ask has, validated and with defaults. */
export interface AskSettings {
  readonly to: readonly Audience[]
  readonly timeout: Due | null
  readonly key: string | null
  readonly details: readonly Section[]
  readonly links: readonly Link[]
  readonly history: History
  readonly alternatives: readonly Alternative[]
  readonly risk?: RiskDetails
  /** Values for the placeholders of the message. */
  readonly data: { readonly [name: string]: unknown }
  readonly channels?: readonly string[]
  readonly require?: CommentRule
}

export const askOptions: RowsOf<AskSettings> = {
  to: optional(readAudiences, []),
  timeout: optional(readDue, null),
  key: optional(checkName, null),
  details: optional(listOf(sectionOptions), []),
  links: optional(listOf(linkOptions), []),
  history: optional(readHistory, { last: 5 }),
  alternatives: optional(listOf(alternativeOptions), []),
  risk: optional(readRisk),
  data: optional(checkObject, {}),
  channels: optional(checkChannelNames),
  require: optional(oneOf(commentRules)),
} satisfies Spec<AskOptions & Pick<AskSettings, 'data'>>

/**
 * Reads the options of an ask. `of` names it in messages, such as `of approve`.
 * @throws PawlError 'option-invalid', 'duration-invalid'
 */
export function readAskOptions<S extends Rows>(of: string, given: unknown, spec: S): Values<S> {
  const options = readOptions(of, given, spec)
  checkHasTimeout(of, checkObject(`options ${of}`, given))
  return options
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

/** Reads a duration or an instant. */
export function readDue(option: string, value: unknown): Due {
  return value instanceof Date
    ? { atMs: checkInstant(option, value).getTime() }
    : { afterMs: parseDuration(value, option) }
}

const historyForms = "It must be 'none', { last: 5 } or { steps: ['load'] }."

function readHistory(option: string, value: unknown): History {
  if (value === 'none') return { last: 0 }
  const given = checkObject(option, value, historyForms)
  checkKeys(option, given, ['last', 'steps'])
  const { last, steps } = given
  if (steps !== undefined && last === undefined)
    return { steps: checkArray(`${option}.steps`, steps).map((name) => checkText(`${option}.steps`, name)) }
  if (last !== undefined && steps === undefined) return { last: checkWhole(`${option}.last`, last, 0, 1_000) }
  return refuse(option, value, historyForms)
}

/** Checks the display format of a section or an artifact. */
export function checkForm(option: string, value: unknown): NonNullable<Section['as']> {
  return checkOneOf(option, value, formats)
}

/** Checks a link that people click: web pages and mail addresses only. */
function checkUrl(option: string, value: unknown): string {
  const text = checkText(option, value)
  const protocol = URL.canParse(text) ? new URL(text).protocol : ''
  if (!['http:', 'https:', 'mailto:'].includes(protocol))
    refuse(option, value, 'It must be an absolute http, https or mailto URL.')
  return text
}

function checkChannelNames(option: string, value: unknown): readonly string[] {
  return [...new Set(checkArray(option, value).map((name) => checkName(option, name)))]
}

function listOf<S extends Rows>(spec: S): Check<readonly Values<S>[]> {
  return (option, value) =>
    checkArray(option, value).map((item) => {
      if (item === undefined) refuse(option, item, 'Each item must be an object.')
      return readPart(option, item, spec)
    })
}

function readRisk(option: string, value: unknown): RiskDetails {
  return typeof value === 'object' && value !== null
    ? readPart(option, value, riskOptions)
    : { level: checkOneOf(option, value, riskLevels, ['{ level, reasons?, reversible?, impact? }']) }
}

function checkReasons(option: string, value: unknown): readonly string[] {
  return checkArray(option, value).map((reason) => checkShown(option, reason))
}

function checkDuration(option: string, value: unknown): Duration {
  parseDuration(value, option)
  return value as Duration
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
  return readPart(option, given, choiceOptions)
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

const effectOptions = { approve: optional(checkShown), reject: optional(checkShown) } satisfies Spec<
  NonNullable<AskPayload['effects']>
>

/** Reads what follows from a yes and from a no. */
export function readEffects(option: string, given: unknown): NonNullable<AskPayload['effects']> {
  return readPart(option, given, effectOptions)
}

const silenceWords = "It must be 'fail', 'keep-waiting', 'escalate', { escalateTo } or { default }."

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
  const given = checkObject(option, value, silenceWords)
  if (!Object.hasOwn(given, 'default')) refuse(option, value, silenceWords)
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
  return { do: 'escalate', to: checkAudience(partOf(option, 'escalateTo'), given['escalateTo']) }
}
