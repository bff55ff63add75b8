// The parts of an engine that @pawl/testing, @pawl/server and the adapters build on, each with its ports. Not public; may change at any time.

export { AskIds, askAddressOf } from './asks/ask-id.ts'
export { askUnderFreeKey } from './authoring/human/free-key.ts'
export { docsPage } from './base/docs.ts'
export { formatDuration } from './base/duration.ts'
export { implement } from './base/implement.ts'
export { Notifier } from './base/notifier.ts'
export { createChance, seedBytes } from './base/prng.ts'
export { parseDuration } from './checks/duration.ts'
export {
  checkArray,
  checkInstant,
  checkObject,
  checkOneOf,
  findNearest,
  refuse,
} from './checks/options.ts'
export { checkActor } from './checks/people.ts'
export { createConnectedClient } from './client/client.ts'
export type { FeedEvent, FollowOptions } from './client/feed.ts'
export {
  askByKeyOf,
  checkAnswerOf,
  type RunEvent,
  readEvents,
  readFeed,
  readStoreHealth,
  readWorkers,
} from './client/log/events.ts'
export { checkEngineKeys, type EngineSettings, readEngineOptions, readStopOptions } from './client/options.ts'
export { keptByDefault, systemPorts } from './engine.ts'
export { decodePayload, encodePayload } from './events/codec.ts'
export { LogHash } from './events/seal.ts'
export { currentBody } from './host/body.ts'
export { consoleLogger } from './host/console-logger.ts'
export { drain } from './host/drain.ts'
export { installGuard } from './host/guard/guard.ts'
export { guardVerbs } from './host/guard/verbs.ts'
export { sha256 } from './host/sha256.ts'
export { installShield } from './host/shield.ts'
export { turns } from './host/turn.ts'
export { Execution } from './kernel/execution.ts'
export type { Operation, Program } from './kernel/operation.ts'
export type { Clock } from './ports/clock.ts'
export type { Effects } from './ports/effects.ts'
export type { Entropy } from './ports/entropy.ts'
export type { LocalWorker } from './ports/local-worker.ts'
export { defaultMaxCrashes } from './ports/suspects.ts'
export { Worker } from './worker/worker.ts'
