import type { Ask, Notice } from '@pawl/core'
import { escapeHiddenInJson, plainPayload } from '@pawl/core/internal'
import type { Queue } from './queue.ts'

/** The text of a request: what a person needs to decide. */
export function requestOf(ask: Ask, { scope, queue }: Queue, page: string | undefined): string {
  const { id, run, procedure, kind, message, params, editable, schema, artifact, baseline, initial } = ask
  const { choices, risk, severity, error, alternatives, links, startedBy, onTimeout } = ask
  return write({
    ...{ ask: id, digest: ask.digest, run, procedure, scope, queue, kind, message },
    sections: ask.details.map(({ title, body, as }) => ({ title, body, as })),
    ...{ params, editable, schema, artifact, baseline, initial, risk, severity, error, alternatives, links },
    decisions: kind === 'input' ? [] : ask.decisions.map(({ value }) => value),
    require: ask.require,
    choices,
    history: ask.history,
    ...{ startedBy, askedAt: ask.askedAt, dueAt: ask.dueAt, onTimeout, page },
    timeout_s: ask.dueAt && Math.round((ask.dueAt.getTime() - ask.askedAt.getTime()) / 1000),
  })
}

/** The text that replaces a request once its ask is closed. */
export function outcomeOf(ask: Ask, { scope, queue }: Queue): string {
  const { id, run, procedure, kind, message, status, answer } = ask
  return write({ ask: id, run, procedure, scope, queue, kind, message, status, answer })
}

/** The text of a notice: what people are told and need not answer. */
export function noticeOf(notice: Notice, { scope, queue }: Queue, page: string | undefined): string {
  const { id, run, procedure, kind, severity, message, details, links, startedBy, at } = notice
  return write({
    ...{ notice: id, run, procedure, scope, queue, kind, severity, message },
    sections: details.map(({ title, body, as }) => ({ title, body, as })),
    ...{ links, startedBy, at, page },
  })
}

/** A program reads it, and so do people: hidden characters are escaped, which means the same in JSON. */
function write(value: object): string {
  return `${escapeHiddenInJson(JSON.stringify(value, plainPayload, 2))}\n`
}
