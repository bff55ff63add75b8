import { randomUUID } from 'node:crypto'
import { type ErrorCode, type Issue, PawlError } from '@pawl/core'
import { docsPage } from '@pawl/core/internal'
import { writePayload } from '../json/payload.ts'
import type { Problem, ServerCode } from '../types.ts'
import { statusOf } from './status.ts'

/** A refusal of the server itself. */
export class ServerError extends Error {
  readonly code: ServerCode
  readonly status: number
  readonly issues: readonly Issue[] | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ServerCode,
    message: string,
    extra: {
      readonly status?: number
      readonly issues?: readonly Issue[]
      readonly headers?: Readonly<Record<string, string>>
    } = {},
  ) {
    super(message)
    this.code = code
    this.status = extra.status ?? statusOf[code]
    this.issues = extra.issues
    this.headers = extra.headers ?? {}
  }
}

/** Logs an error that is no refusal; the reply carries only `id`. */
export type ReportFault = (id: string, error: unknown) => void

/** Turns what a handler threw into a reply. An unknown error is reported, and its reply says nothing of the cause. */
export function problemReply(error: unknown, report: ReportFault): Response {
  const refusal = refusalOf(error)
  if (refusal !== null) return reply(refusal, error instanceof ServerError ? error.headers : {})
  const id = randomUUID()
  report(id, error)
  return reply(
    problem('internal', 500, `The request failed inside the server. The log has the cause under ${id}.`, {
      id,
    }),
  )
}

/** Logs the error that ended a stream. Refusals are not logged. */
export function reportFault(error: unknown, report: ReportFault): void {
  if (!(error instanceof ServerError || PawlError.is(error))) report(randomUUID(), error)
}

/** The problem that a refusal is; null for an error that is none. */
export function refusalOf(error: unknown): Problem | null {
  if (PawlError.is(error)) return problemOf(error)
  if (!(error instanceof ServerError)) return null
  const { code, message, status, issues } = error
  return problem(code, status, message, issues && { issues })
}

function problemOf(error: PawlError): Problem {
  const { code, message, details, help } = error
  const shown = writePayload(plain(details)) as Problem['details']
  return { ...problem(code, statusOf[code], message, shown), type: help }
}

function problem(
  code: ErrorCode | ServerCode,
  status: number,
  detail: string,
  details?: Problem['details'],
): Problem {
  return {
    type: `${docsPage('errors/server')}#${code}`,
    title: code,
    status,
    detail,
    code,
    ...(details ? { details } : {}),
  }
}

/** Instants of details are fields, so they are ISO 8601; what is undefined is left out. */
function plain(details: object): unknown {
  return JSON.parse(JSON.stringify(details))
}

function reply(body: Problem, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(body, {
    status: body.status,
    headers: { ...headers, 'content-type': 'application/problem+json' },
  })
}
