import { implement } from '../../base/implement.ts'
import { type RiskLevel, severities } from '../../base/words.ts'
import { checkBoolean, checkObject, checkSchema, checkShown, refuse } from '../../checks/options.ts'
import { anything, oneOf, optional, type Spec } from '../../checks/spec.ts'
import { type FailureRecord, recordFailure } from '../../errors/failure.ts'
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
import type { AskOptions, Choice, OnTimeout } from './ask.ts'
import type {
  ApproveOptions,
  EscalateOptions,
  Human,
  InputOptions,
  NotifyOptions,
  ReviewOptions,
} from './human.ts'
import { fillMessage, isShown } from './message.ts'
import {
  type AskSettings,
  askOptions,
  checkForm,
  type ReadChoice,
  readApproveSilence,
  readAskOptions,
  readChoices,
  readEditable,
  readEffects,
  readSilence,
} from './options.ts'
import { type AskServices, remarkOnAsk, remarkOnMessage } from './remarks.ts'

type Given = { readonly [name: string]: unknown }

const approveOptions = {
  ...askOptions,
  params: optional(checkObject, {}),
  editable: optional(anything),
  schema: optional(checkAskSchema),
  effect: optional(readEffects),
  onTimeout: optional(anything),
  onReject: optional(oneOf(['return', 'cancel-run']), 'return'),
} satisfies Spec<ApproveOptions<object, RiskLevel>>

const inputOptions = {
  ...askOptions,
  initial: optional(anything),
  onTimeout: optional(anything),
} satisfies Spec<AskOptions & OnTimeout<unknown> & InputOptions<unknown>>

const selectOptions = { ...askOptions, onTimeout: optional(anything) } satisfies Spec<
  AskOptions & OnTimeout<unknown>
>

const reviewOptions = {
  ...askOptions,
  choices: optional(readChoices, [{ value: 'approve' }, { value: 'reject' }]),
  editable: optional(checkBoolean, false),
  schema: optional(checkAskSchema),
  baseline: optional(anything),
  as: optional(checkForm),
  onTimeout: optional(anything),
} satisfies Spec<AskOptions & OnTimeout<unknown> & ReviewOptions<unknown, readonly Choice[]>>

const { timeout: _, ...untimedOptions } = askOptions
const escalateOptions = {
  ...untimedOptions,
  choices: optional(readChoices, [{ value: 'continue' }]),
  error: optional(recordError),
  severity: optional(oneOf(severities), 'error'),
} satisfies Omit<Spec<AskOptions & EscalateOptions<readonly Choice[]>>, 'timeout' | 'onTimeout'>

const notifyOptions = {
  to: askOptions.to,
  links: askOptions.links,
  details: askOptions.details,
  severity: optional(oneOf(severities), 'info'),
  data: askOptions.data,
} satisfies Spec<NotifyOptions & Pick<AskSettings, 'data'>>

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
      const { to, links, details, severity, data } = readAskOptions('of notify', given, notifyOptions)
      const filled = fill('of notify', message, data)
      const notice = {
        ...{ message: filled, to, severity },
        ...(details.length > 0 ? { details } : {}),
        ...(links.length > 0 ? { links } : {}),
      }
      // Refused by the call rather than by the worker.
      encode(notice, 'notice')
      remarkOnMessage(remark, 'notify', message, given)
      return issue({
        kind: 'hitl_notification',
        name: 'notify',
        notice,
        read: readNothing,
      })
    },
  })
}

/** Builds the operation of `ctx.human.approve`. */
export function approval(message: unknown, given: unknown, of = 'of approve'): AskOperation {
  const options = readAskOptions(of, given, approveOptions)
  const { params, schema, risk, data, key } = options
  const editable = readEditable(of, options.editable, params)
  const silence = readApproveSilence(of, options.onTimeout, risk?.level)
  const cancels = options.onReject === 'cancel-run'
  const effects = cancels ? { reject: 'The run is cancelled', ...options.effect } : options.effect
  const shown = {
    params,
    ...(effects && { effects }),
    ...(editable.length > 0 ? { editable, ...keptTypes(schema) } : {}),
  }
  return {
    ...{
      kind: 'hitl_approval',
      name: key ?? 'approve',
      read: cancels ? readApproved : readApproval,
    },
    ask: {
      ...createSpec(options, schema, {
        kind: 'approve',
        message: fill(of, message, data, params),
        silence,
        ...shown,
      }),
      ...(cancels ? { cancelsRun: true } : {}),
    },
  }
}

function input(message: unknown, given: unknown, more: unknown): AskOperation {
  const of = 'of input'
  const options = readAskOptions(of, more, inputOptions)
  const schema = checkAskSchema(`schema ${of}`, given)
  const silence = readSilence(of, options.onTimeout)
  const initial = options.initial === undefined ? {} : { initial: options.initial }
  return {
    ...{ kind: 'hitl_input', name: options.key ?? 'input', read: readInput },
    ask: createSpec(options, schema, {
      kind: 'input',
      message: fill(of, message, options.data),
      silence,
      ...initial,
    }),
  }
}

function selection(message: unknown, given: unknown, more: unknown): AskOperation {
  const of = 'of select'
  const options = readAskOptions(of, more, selectOptions)
  const choices = readChoices(`choices ${of}`, given)
  const silence = readSilence(of, options.onTimeout, choices)
  return {
    ...{ kind: 'hitl_select', name: options.key ?? 'select', read: readChoice },
    ask: createSpec(options, undefined, {
      kind: 'select',
      message: fill(of, message, options.data),
      choices,
      silence,
    }),
  }
}

function review(message: unknown, artifact: unknown, given: unknown): AskOperation {
  const of = 'of review'
  const options = readAskOptions(of, given, reviewOptions)
  const { baseline, as, editable, choices, schema } = options
  const silence = readSilence(of, options.onTimeout, choices)
  const shown = {
    artifact,
    ...(baseline === undefined ? {} : { baseline }),
    ...(as === undefined ? {} : { as }),
    ...(editable ? { editable: ['artifact'], ...keptTypes(schema) } : {}),
  }
  return {
    ...{ kind: 'hitl_review', name: options.key ?? 'review', read: readReview },
    ask: createSpec(options, schema, {
      ...{ kind: 'review', message: fill(of, message, options.data), choices, silence },
      ...shown,
    }),
  }
}

/** Builds the operation of `ctx.human.escalate`. */
export function escalation(message: unknown, given: unknown): AskOperation {
  const of = 'of escalate'
  const { timeout, onTimeout, ...rest } = checkObject(`options ${of}`, given)
  for (const [option, value] of Object.entries({ timeout, onTimeout }))
    if (value !== undefined)
      refuse(
        `${option} ${of}`,
        value,
        'escalate waits until a person resolves it; use select with a timeout instead.',
      )
  const options = readAskOptions(of, rest, escalateOptions)
  const { choices, severity, error } = options
  return {
    ...{ kind: 'hitl_escalation', name: options.key ?? 'escalate', read: readResolution },
    ask: createSpec({ ...options, timeout: null }, undefined, {
      ...{
        kind: 'escalate',
        message: fill(of, message, options.data),
        choices,
        severity,
        silence: { do: 'keep-waiting' },
      },
      ...(error === undefined ? {} : { error }),
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
  const all = { ...leaveOut(own), ...leaveOut(given), ...joinDetails(own, given) }
  const settings = readAskOptions(of, all, askOptions)
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

function fill(of: string, message: unknown, data: Given, params: Given = {}): string {
  // If a param cannot be formatted, `data` may provide a replacement.
  const shown = Object.entries(params).filter(([name, value]) => isShown(value) || !Object.hasOwn(data, name))
  return fillMessage(checkShown(`message ${of}`, message), { ...data, ...Object.fromEntries(shown) })
}

function checkAskSchema(option: string, given: unknown): Schema {
  const schema = checkSchema(option, given)
  if (isTransforming(schema))
    refuse(
      option,
      'a schema that transforms',
      'Pass the schema of the input, and transform the answer in the procedure.',
    )
  return schema
}

function recordError(_option: string, error: unknown): FailureRecord {
  return recordFailure(error)
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
  const { key, to, timeout: due, history, details, links, alternatives, risk, channels, require } = settings
  if (require === 'comment-on-reject') checkHasRejection(pinned)
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
    ...(require === undefined ? {} : { require }),
  }
  const copy = decode(encode(payload, pinned.kind)) as AskPayload
  const check = schema === undefined ? undefined : (value: unknown) => validate(schema, value)
  return { key, to, due, history, payload: copy, check }
}

function checkHasRejection({ kind, choices = [] }: Pinned): void {
  if (kind === 'approve' || (kind === 'review' && choices.some(({ value }) => value === 'reject'))) return
  refuse(
    `require of ${kind}`,
    'comment-on-reject',
    "Only approve, and a review with the choice 'reject', have a rejection. Use 'comment'.",
  )
}
