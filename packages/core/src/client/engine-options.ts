import type { Agent } from '../authoring/agent/agent.ts'
import type { Question, Verdict } from '../authoring/agent/verdict.ts'
import type { Policy } from '../authoring/policy/policy.ts'
import type { Procedure } from '../authoring/procedure.ts'
import type { Duration } from '../base/duration.ts'
import type { Audience } from '../base/people.ts'
import type { Store } from '../ports/connect.ts'
import type { Logger } from '../ports/logger.ts'
import type { Observer } from '../ports/observer.ts'
import type { PluginOption } from './plugins/plugin.ts'

/** The options of `createEngine`. */
export interface EngineOptions {
  /** Store that keeps the runs: the result of `sqlite()`, `postgres()` or `memory()`. */
  readonly store: Store
  /** Procedures that the engine executes; may be empty. Range: each name and version once. */
  // biome-ignore lint/suspicious/noExplicitAny: procedures of any types
  readonly procedures: readonly Procedure<any, any, any>[]
  /** Agent for `ctx.agent.decide` without an `agent`. Default: none; each call names its agent. */
  readonly decider?: Agent<Question, Verdict>
  /** Audience that also sees overdue asks with `onTimeout: 'escalate'`. Default: none. */
  readonly escalateTo?: Audience
  /**
   * Judges every gate, and every step with `classes`: 'allow', 'agent', 'human' or 'deny'. The verdict is recorded, so a later
   * policy does not change it. A policy that throws means 'human'. Default: every action is allowed.
   */
  readonly policy?: Policy
  /**
   * What `Date` and `Math.random` do inside a procedure: 'virtual' answers from the log, 'error' throws
   * 'nondeterministic-call', 'off' leaves them alone. Default: 'virtual'.
   */
  readonly determinism?: 'virtual' | 'error' | 'off'
  /** What a programming error does to its run: 'park' makes it `stuck` until the code is fixed, 'fail' ends it. Default: 'park'. */
  readonly bugs?: 'park' | 'fail'
  /** Number of worker crashes with the run as the only suspect after which it is quarantined. Default: 5. Range: whole numbers from 2. */
  readonly maxCrashes?: number
  /**
   * Maximum number of descendants of a run, ended ones included. A run that another run has created cannot create a further one
   * above it: `call` and `spawn` reject with 'family-full'. Several workers may exceed it by what they create between two counts.
   * Default: 100,000. Range: whole numbers from 1 to 10,000,000.
   */
  readonly maxDescendants?: number
  /** Maximum number of bodies of steps and agents that run at the same time in this process. Default: 100. Range: whole numbers from 1. */
  readonly concurrency?: number
  /**
   * Number of events in the log of a run: from `warn` on a warning is logged, at `full` the run fails with 'log-full'. A run that
   * continues with `ctx.continueAs` counts from 0 again. Default: 10,000 and 1,000,000. Range: whole numbers from 1.
   */
  readonly logLimits?: { readonly warn?: number; readonly full?: number }
  /** Time without a heartbeat after which other workers take over the runs of this one. They check at a fifth of it. Default: '10s'. Range: at least '1s'. */
  readonly lease?: Duration
  /**
   * What works beside the procedures, such as `channels()` of `@pawl/channels` and `webhooks()` of `@pawl/server`. Default: none. Range:
   * each name once.
   */
  readonly plugins?: readonly PluginOption[]
  /**
   * Whether a person may answer the asks of runs they started, through a plug-in such as a channel or a server of this engine. What such
   * a server forbids is forbidden to the plug-ins as well. Default: true.
   */
  readonly selfApproval?: boolean
  /**
   * How long ended runs are kept, by procedure; '*' applies to all that are not named. Names may be those of other engines'
   * procedures. Default: for ever; 30 days for the procedures of Pawl itself, whose names begin with `pawl.`.
   */
  readonly retention?: { readonly [procedure: string]: Retention }
  /** Receives log lines of the engine and of `ctx.log`. Errors that it throws are ignored, also if its methods are async. Default: the console, without `debug`. */
  readonly logger?: Logger
  /** Receives what the engine and its client do, for traces and metrics, such as `otel()` of `@pawl/otel`. Default: none. */
  readonly observe?: Observer
}

/** How long the ended runs of a procedure are kept. Each worker looks through a thousand runs a minute and deletes the others. */
export interface Retention {
  /** How long completed runs are kept, from their end. Default: for ever. */
  readonly completed?: Duration
  /** How long failed runs are kept, from their end. Default: for ever. */
  readonly failed?: Duration
  /** How long cancelled runs are kept, from their end. Default: as `failed`. */
  readonly cancelled?: Duration
  /** Maximum number of ended runs; the runs that were started first are deleted. Default: no limit. Range: whole numbers from 0. */
  readonly keep?: number
  /**
   * How long the log of an earlier generation of a live run is kept, from when the next one began. Its answered asks stay in the
   * inbox. Default: for ever.
   */
  readonly generations?: Duration
  /** How long answered asks outlive their run, from their answer. Default: for ever. */
  readonly decisions?: Duration
  /** How long checkpoints are kept, from when they were made. Those of a completed run are deleted. Default: as long as their run. */
  readonly checkpoints?: Duration
}
