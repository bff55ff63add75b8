import { implement } from '../../base/implement.ts'
import {
  checkBoolean,
  checkKeys,
  checkObject,
  checkOneOf,
  checkSchema,
  checkText,
  refuse,
} from '../../checks/options.ts'
import { recordFailure } from '../../errors/failure.ts'
import { decode, encode } from '../../events/payload.ts'
import type { AskPayload, Silence } from '../../events/payloads.ts'
import { isOptional, isTransforming, jsonSchemaOf, type Schema, validate } from '../../schemas/schema.ts'
import type { AskOperation, AskSpec, IssueOperation } from '../operations.ts'
import {
  readApproval,
  readApproved,
  readChoice,
  readInput,
  readNothing,
  readResolution,
  readReview,
} from '../results.ts'
import type { Human } from './human.ts'
import { fillMessage, isShown } from './message.ts'
import {
  type AskSettings,
  askOptionNames,
  type ReadChoice,
  readApproveSilence,
  readAskOptions,
  readChoices,
  readEditable,
  readForm,
  readSeverity,
  readSilence,
} from './options.ts'
import { type AskServices, remarkOnAsk, remarkOnMessage } from './remarks.ts'

type Given = { readonly [name: string]: unknown }

/** Builds `ctx.human`. Each call is one operation. */
export function createHuman(issue: IssueOperation, services: AskServices): Human {
  const { remark } = services
  const ask = (operation: AskOperation, message: unknown, given: unknown): Promise<unknown> => {
    remarkOnAsk(services, operation, message, given)
    return issue(operation)
  }
  return implement<Human>({
    approve: (message: unknown, given?: unknown) => ask(approval(message, given), message, given),
    input: (message: unknown, schema: unknown, given?: unknown) =>
      ask(input(message, schema, given), message, given),
    select: (message: unknown, choices: unknown, given?: unknown) =>
      ask(selection(message, choices, given), message, given),
    review: (message: unknown, artifact: unknown, given?: unknown) =>
      ask(review(message, artifact, given), message, given),
    escalate: (message: unknown, given?: unknown) => ask(escalation(message, given), message, given),
    notify: (message: unknown, given?: unknown) => {
      const options = readOptions('of notify', given, ['to', 'links', 'details', 'severity', 'data'], true)
      const { to, links, details } = readAskOptions('of notify', options)
      const severity = readSeverity('severity of notify', options['severity'], 'info')
      const filled = fill('of notify', message, options)
      const fields = {
        to,
        severity,
        ...(details.length > 0 ? { details } : {}),
        ...(links.length > 0 ? { links } : {}),
      }
      const payload = encode({ message: filled, ...fields }, 'notice')
      remarkOnMessage(remark, 'notify', message, given)
      return issue({
        kind: 'hitl_notification',
        name: 'notify',
        message: filled,
        fields,
        payload,
        read: readNothing,
      })
    },
  })
}

/** Builds the operation of `ctx.human.approve`. */
export function approval(message: unknown, given: unknown, of = 'of approve'): AskOperation {
  const options = readOptions(of, given, ['params', 'editable', 'schema', 'onTimeout', 'onReject'])
  const params = checkObject(`params ${of}`, options['params'])
  const editable = readEditable(of, options['editable'], params)
  const settings = readAskOptions(of, options)
  const schema = readAskSchema(of, options['schema'])
  const silence = readApproveSilence(of, options['onTimeout'], settings.risk?.level)
  const { onReject = 'return' } = options
  const cancels = checkOneOf(`onReject ${of}`, onReject, ['return', 'cancel-run']) === 'cancel-run'
  const shown = { params, ...(editable.length > 0 ? { editable, ...keptTypes(schema) } : {}) }
  return {
    ...{
      kind: 'hitl_approval',
      name: settings.key ?? 'approve',
      read: cancels ? readApproved : readApproval,
    },
    ask: {
      ...createSpec(settings, schema, {
        kind: 'approve',
        message: fill(of, message, options, params),
        silence,
        ...shown,
      }),
      ...(cancels ? { cancelsRun: true } : {}),
    },
  }
}

function input(message: unknown, given: unknown, more: unknown): AskOperation {
  const of = 'of input'
  const options = readOptions(of, more, ['initial', 'onTimeout'])
  const settings = readAskOptions(of, options)
  const schema = readAskSchema(of, checkSchema(`schema ${of}`, given))
  const silence = readSilence(of, options['onTimeout'])
  const initial = options['initial'] === undefined ? {} : { initial: options['initial'] }
  return {
    ...{ kind: 'hitl_input', name: settings.key ?? 'input', read: readInput },
    ask: createSpec(settings, schema, {
      kind: 'input',
      message: fill(of, message, options),
      silence,
      ...initial,
    }),
  }
}

function selection(message: unknown, given: unknown, more: unknown): AskOperation {
  const of = 'of select'
  const options = readOptions(of, more, ['onTimeout'])
  const settings = readAskOptions(of, options)
  const choices = readChoices(`choices ${of}`, given)
  const silence = readSilence(of, options['onTimeout'], choices)
  return {
    ...{ kind: 'hitl_select', name: settings.key ?? 'select', read: readChoice },
    ask: createSpec(settings, undefined, {
      kind: 'select',
      message: fill(of, message, options),
      choices,
      silence,
    }),
  }
}

const reviewNames = ['choices', 'editable', 'schema', 'baseline', 'as', 'onTimeout']

function review(message: unknown, artifact: unknown, given: unknown): AskOperation {
  const of = 'of review'
  const options = readOptions(of, given, reviewNames)
  const settings = readAskOptions(of, options)
  const { baseline, as, editable } = options
  const choices = readChoices(`choices ${of}`, options['choices'] ?? ['approve', 'reject'])
  const silence = readSilence(of, options['onTimeout'], choices)
  const schema = readAskSchema(of, options['schema'])
  const isEditable = editable !== undefined && checkBoolean(`editable ${of}`, editable)
  const shown = {
    artifact,
    ...(baseline === undefined ? {} : { baseline }),
    ...(as === undefined ? {} : { as: readForm(`as ${of}`, as) }),
    ...(isEditable ? { editable: ['artifact'], ...keptTypes(schema) } : {}),
  }
  return {
    ...{ kind: 'hitl_review', name: settings.key ?? 'review', read: readReview },
    ask: createSpec(settings, schema, {
      ...{ kind: 'review', message: fill(of, message, options), choices, silence },
      ...shown,
    }),
  }
}

const escalateNames = [
  ...askOptionNames.filter((name) => name !== 'timeout'),
  ...['choices', 'error', 'severity'],
]

/** Builds the operation of `ctx.human.escalate`. */
export function escalation(message: unknown, given: unknown): AskOperation {
  const of = 'of escalate'
  const { timeout, ...rest } = checkObject(`options ${of}`, given)
  if (timeout !== undefined)
    refuse(
      `timeout ${of}`,
      timeout,
      'escalate waits until a person resolves it; use select with a timeout instead.',
    )
  const options = readOptions(of, rest, escalateNames, true)
  const settings = readAskOptions(of, options)
  const choices = readChoices(`choices ${of}`, options['choices'] ?? ['continue'])
  const severity = readSeverity(`severity ${of}`, options['severity'], 'error')
  const error = options['error'] === undefined ? {} : { error: recordFailure(options['error']) }
  return {
    ...{ kind: 'hitl_escalation', name: settings.key ?? 'escalate', read: readResolution },
    ask: createSpec(settings, undefined, {
      ...{
        kind: 'escalate',
        message: fill(of, message, options),
        choices,
        severity,
        silence: { do: 'keep-waiting' },
      },
      ...error,
    }),
  }
}

/** Creates the ask that replaces an agent's decision. */
export function createDecideAsk(
  message: string,
  choices: readonly ReadChoice[],
  material: unknown,
  given: Given,
  own: { readonly key?: unknown; readonly details?: unknown; readonly history?: unknown },
): AskSpec {
  const of = 'of fallback.ask of decide'
  checkKeys(`the options ${of}`, given, askOptionNames)
  const settings = readAskOptions(of, { ...leaveOut(own), ...leaveOut(given), ...joinDetails(own, given) })
  const artifact = material === undefined ? {} : { artifact: material }
  return createSpec(settings, undefined, {
    kind: 'decide',
    message,
    choices,
    silence: { do: 'fail' },
    ...artifact,
  })
}

/** Removes options that are undefined. */
function leaveOut(options: Given): Given {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

/** Combines the details of the decision with the details of the ask. */
function joinDetails(own: Given, given: Given): Given {
  const both = [own['details'], given['details']]
  return both.every((details) => Array.isArray(details)) ? { details: both.flat() } : {}
}

// ── shared by all asks

function readOptions(of: string, given: unknown, names: readonly string[], only = false): Given {
  const options = checkObject(`options ${of}`, given)
  checkKeys(`the options ${of}`, options, only ? names : [...askOptionNames, ...names])
  return options
}

function fill(of: string, message: unknown, options: Given, params: Given = {}): string {
  const data = checkObject(`data ${of}`, options['data'])
  // If a param cannot be formatted, `data` may provide a replacement.
  const shown = Object.entries(params).filter(([name, value]) => isShown(value) || !Object.hasOwn(data, name))
  return fillMessage(checkText(`message ${of}`, message), { ...data, ...Object.fromEntries(shown) })
}

function readAskSchema(of: string, given: unknown): Schema | undefined {
  if (given === undefined) return undefined
  const schema = checkSchema(`schema ${of}`, given)
  if (isTransforming(schema))
    refuse(
      `schema ${of}`,
      'a schema that transforms',
      'Pass the schema of the input, and transform the answer in the procedure.',
    )
  return schema
}

function keptTypes(schema: Schema | undefined): Pick<AskPayload, 'keepsTypes'> {
  return schema === undefined ? { keepsTypes: true } : {}
}

type Pinned = Omit<AskPayload, 'silence' | 'dueAt' | 'history' | 'schema'> & { readonly silence: Silence }

/**
 * Creates the stored form of an ask. Values that cannot be stored are rejected here, in the author's call. They are
 * copied, so that later changes to the same objects have no effect.
 */
function createSpec(settings: AskSettings, schema: Schema | undefined, pinned: Pinned): AskSpec {
  const { key, to, due, history, details, links, alternatives, risk, channels } = settings
  const json = schema === undefined ? undefined : jsonSchemaOf(schema)
  const payload: AskPayload = {
    ...pinned,
    ...(json === undefined ? {} : { schema: json }),
    ...(pinned.kind === 'input' && schema !== undefined && isOptional(schema) ? { optional: true } : {}),
    ...(alternatives.length === 0 ? {} : { alternatives }),
    ...(risk === undefined ? {} : { risk }),
    ...(details.length === 0 ? {} : { details }),
    ...(links.length === 0 ? {} : { links }),
    ...(channels === undefined ? {} : { channels }),
  }
  const copy = decode(encode(payload, pinned.kind)) as AskPayload
  const check = schema === undefined ? undefined : (value: unknown) => validate(schema, value)
  return { key, to, due, history, payload: copy, check }
}
