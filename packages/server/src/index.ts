// Everything a user may import. What is not listed here may change at any time.
export type { LinkOptions } from '@pawl/core'
export { local } from './auth/local.ts'
export { type ProxyHeaderOptions, proxyHeader } from './auth/proxy-header.ts'
export type { Role } from './auth/roles.ts'
export { tokens } from './auth/tokens.ts'
export { type WebhookOptions, type Webhooks, webhooks } from './hooks/webhooks.ts'
export type {
  AskJson,
  CheckpointJson,
  LogEntryJson,
  NoticeJson,
  PreviewJson,
  RunFactsJson,
  RunJson,
  RunValuesJson,
} from './json/shapes.ts'
export { createServer, toNode } from './server.ts'
export type {
  Auth,
  Identity,
  NewRun,
  NodeHandler,
  Problem,
  Server,
  ServerCode,
  ServerOptions,
  Thing,
  Verb,
} from './types.ts'
