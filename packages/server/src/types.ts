import type { IncomingMessage, ServerResponse } from 'node:http'
import type {
  Actor,
  Ask,
  Audience,
  Client,
  ErrorCode,
  Issue,
  LinkOptions,
  Logger,
  Notice,
  Procedure,
  RunView,
} from '@pawl/core'
import type { Role } from './auth/roles.ts'
import type { Webhooks } from './hooks/webhooks.ts'

/** The sender of a request. */
export interface Identity {
  /** The person, who is recorded with answers and runs. */
  readonly actor: Extract<Actor, `user:${string}`>
  /** Groups, roles and queues whose asks it may answer. */
  readonly names: readonly Audience[]
  /** The role, which says what it may see and do. */
  readonly role: Role
  /** Whether a request may name another person with `as`. Default: false. */
  readonly actAs?: boolean
}

/** Returns who makes the request, or null to refuse it with status 401. */
export type Auth = (request: Request) => Identity | null | Promise<Identity | null>

/** The options of `createServer`. */
export interface ServerOptions {
  /** A client or an engine, or a function that returns one for each identity, such as one store per tenant. */
  readonly client: Client | ((identity: Identity) => Client)
  /**
   * Code of procedures, with which the input of a run is checked before the run is stored. It must be the code of the workers.
   * Default: the input is checked by the JSON Schema that live workers declare, and by the worker, where a run with invalid input fails.
   */
  // biome-ignore lint/suspicious/noExplicitAny: procedures of any types
  readonly procedures?: readonly Procedure<any, any, any>[]
  /** Returns who makes a request; null refuses it with status 401. Default: `local()`. */
  readonly auth?: Auth
  /** Accepted `Host` names besides those of loopback. Default: none. @example ['pawl.example.org'] */
  readonly hosts?: readonly string[]
  /** The path the server is mounted at. Default: '/'. @example '/pawl' */
  readonly basePath?: `/${string}`
  /** Origins allowed by CORS, with bearer tokens only. Default: none. @example ['https://app.example.org'] */
  readonly origins?: readonly string[]
  /** Whether a person may answer the asks of runs they started. It also holds for the channels of the engine. Default: true. */
  readonly selfApproval?: boolean
  /** Whether role `answer` may read the logs of runs whose asks it sees. Default: false. */
  readonly showRuns?: boolean
  /** Signs and verifies links with which a person answers a single ask. The host of `publicUrl` is accepted. Default: no links. */
  readonly links?: LinkOptions
  /** Registers and lists webhooks. An engine on the same store sends them: it has the same plug-in; see `webhooks`. Default: none. */
  readonly hooks?: Webhooks
  /**
   * Narrows what an identity may do with one thing. It cannot widen it. The channels of the engine accept no answer that it forbids to
   * the person, as an identity with role `answer`. Default: the role and the names decide.
   */
  readonly may?: (identity: Identity, verb: Verb, thing: Thing) => boolean
  /** Receives the causes of replies with status 500. Default: the console. */
  readonly logger?: Logger
}

/** A run that a request is about to start. */
export interface NewRun {
  readonly id: string | undefined
  readonly procedure: string
  readonly tags: readonly string[]
}

/** The subject of a request: an ask, a run, a notice, or, for the verb `start`, the run to be started or imported. */
export type Thing = Ask | RunView | Notice | NewRun

/** The verb of a request. */
export type Verb =
  | 'see'
  | 'answer'
  | 'start'
  | 'signal'
  | 'update'
  | 'cancel'
  | 'retry'
  | 'fork'
  | 'delete'
  | 'export'
  | 'checkpoint'

/** An HTTP server over a client. Created by `createServer`. */
export interface Server {
  /** Handles a request. Bound, so that it can be passed on. */
  readonly fetch: (request: Request) => Promise<Response>
  /**
   * Listens on 127.0.0.1:4747 by default; port 0 picks a free one. Any other address requires `auth`.
   * @throws PawlError 'option-invalid'
   */
  listen(options?: { readonly port?: number; readonly host?: string }): Promise<{ readonly url: string }>
  /** Ends streams and connections. The client is left open. */
  stop(): Promise<void>
}

/** A handler for `node:http`, Express and Fastify. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

/** Codes of the server alone. */
export type ServerCode =
  | 'request-invalid'
  | 'login-needed'
  | 'not-allowed'
  | 'not-found'
  | 'link-expired'
  | 'host-refused'
  | 'too-many'
  | 'internal'

/** The body of every error reply, `application/problem+json` (RFC 9457). */
export interface Problem {
  /** The URL of the help page of the code. */
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ErrorCode | ServerCode
  readonly details?: { readonly issues?: readonly Issue[]; readonly [name: string]: unknown }
}
