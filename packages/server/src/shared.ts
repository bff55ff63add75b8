import type { RateLimit } from './http/limits.ts'
import type { ReportFault } from './http/problem.ts'
import type { ReplyCounts } from './http/replies.ts'
import type { Settings } from './options.ts'
import type { StreamTiming } from './streams/event-stream.ts'
import type { OpenStreams } from './streams/open-streams.ts'

/** The state shared by all requests of a server. */
export interface Shared {
  readonly settings: Settings
  readonly reads: RateLimit
  readonly writes: RateLimit
  /** Failed logins by address. */
  readonly failures: RateLimit
  readonly streams: OpenStreams
  readonly replies: ReplyCounts
  readonly timing: StreamTiming
  /** In ms since 1970. */
  now(): number
  readonly report: ReportFault
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}
