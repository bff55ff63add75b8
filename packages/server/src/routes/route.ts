import type { Actor, Client, LinkOptions, ProcedureRef } from '@pawl/core'
import type { z } from 'zod'
import type { Rights } from '../auth/rights.ts'
import type { Role } from '../auth/roles.ts'
import type { HookAccess } from '../hooks/registry.ts'
import type { Frames, StreamTiming } from '../streams/event-stream.ts'
import type { Identity } from '../types.ts'

/** The origin of an answer: the person, and the channel. */
export interface AnswerGiver {
  readonly as: Extract<Actor, `user:${string}`>
  /** The header `Pawl-Via`: the channel that it comes through. Default: 'api'. */
  readonly via: string
  /** The identity, if it acts for the person in `as`. */
  readonly actedBy?: Actor
}

/** The argument of a handler: the client of the identity, its rights, and the checked parts of the request. */
export interface Call<Params, Query, Body> {
  readonly client: Client
  readonly identity: Identity
  readonly rights: Rights
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** The procedure of a name, with its code if the server has it. */
  procedureOf(name: string): ProcedureRef<unknown, unknown>
  /** The header `Idempotency-Key`. */
  readonly idempotencyKey: string | undefined
  /** The header `Last-Event-ID`. */
  readonly lastEventId: string | undefined
  readonly timing: StreamTiming
  /** The option `links` of the server. */
  readonly links: LinkOptions | undefined
  /** The option `hooks` of the server. */
  readonly hooks: HookAccess | undefined
  /** In ms since 1970. */
  readonly now: number
  /** Aborts when the caller has gone or the server stops. */
  readonly signal: AbortSignal
  /** Logs what the identity has done, if nothing in the store says so. */
  note(deed: string, fields: object): void
  /** Returns who answers: the identity, or `as` of the request if the identity may act for others. */
  giver(as: string | undefined): AnswerGiver
}

/** A body: JSON, bytes or a stream; null for a stream with nothing left to send. */
export type Reply =
  | { readonly status: number; readonly body: unknown }
  | { readonly bytes: AsyncIterable<Uint8Array> }
  | { readonly frames: Frames | null }

/** A row of the table of routes. Validation, the OpenAPI document and the tests are made from it. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Below `/v1`, with parameters in braces. */
  readonly path: `/${string}`
  readonly summary: string
  /** The roles that may call it. `Rights` decides which asks and runs they see. */
  readonly roles: readonly Role[]
  readonly query: z.ZodObject
  readonly body: z.ZodType | null
  /** The replies by status; for a stream, the data of its frames. */
  readonly replies: { readonly [status: number]: z.ZodType }
  /** Whether it replies with server-sent events. */
  readonly isStream?: true
  /** Set if its body is not JSON. */
  readonly takes?: 'bytes'
  /** Set if it replies with bytes. */
  readonly sends?: 'bytes'
  // biome-ignore lint/suspicious/noExplicitAny: `route` checks the handler against the schemas of its row
  readonly handle: (call: Call<any, any, any>) => Promise<Reply>
}

type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & ParamsOf<Rest>
  : unknown

interface Row<Path extends `/${string}`, Query extends z.ZodObject, Body extends z.ZodType | null>
  extends Omit<Route, 'path' | 'query' | 'body' | 'handle'> {
  readonly path: Path
  readonly query: Query
  readonly body: Body
  readonly handle: (
    call: Call<ParamsOf<Path>, z.infer<Query>, Body extends z.ZodType ? z.infer<Body> : undefined>,
  ) => Promise<Reply>
}

/** Types the handler of a row by its path and schemas. */
export function route<
  const Path extends `/${string}`,
  Query extends z.ZodObject,
  Body extends z.ZodType | null,
>(row: Row<Path, Query, Body>): Route {
  return row
}
