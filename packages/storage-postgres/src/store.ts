import type { Effect, StorePort, Unit, UnitOutcome } from '@pawl/core/storage'
import type { ClientPool } from './connection/clients.ts'
import { Database } from './connection/database.ts'
import { Ownership } from './connection/ownership.ts'
import { type Names, storeTime } from './names.ts'
import { checkServer } from './open.ts'
import { prepareFindAsk } from './reads/asks.ts'
import { prepareReadBacklog } from './reads/backlog.ts'
import { prepareCheckpointReads } from './reads/checkpoints.ts'
import { prepareCountDescendants } from './reads/descendants.ts'
import { prepareExtract } from './reads/extract.ts'
import { prepareReadFeed } from './reads/feed.ts'
import { prepareReadLog } from './reads/log.ts'
import { prepareReadMail, prepareReadReply } from './reads/mail.ts'
import { prepareNotices } from './reads/notices.ts'
import { prepareFindRun } from './reads/runs.ts'
import { prepareReadStates } from './reads/states.ts'
import { isCurrent, readVersion } from './schema/version.ts'
import { Hints } from './watch.ts'
import { prepareAnswer } from './writes/answer.ts'
import { prepareCancel } from './writes/cancel.ts'
import { prepareCheckpointWrites } from './writes/checkpoints.ts'
import { prepareClaiming } from './writes/claim.ts'
import { prepareCommit } from './writes/commit.ts'
import { prepareCreate } from './writes/create.ts'
import { prepareTrimFeed } from './writes/feed.ts'
import { prepareHoldMail } from './writes/hold.ts'
import { prepareInstall } from './writes/install.ts'
import { prepareMark, prepareRetry } from './writes/mark.ts'
import { prepareRemovals } from './writes/remove.ts'
import { prepareRestart } from './writes/restart.ts'
import { prepareSend } from './writes/send.ts'
import { prepareWorkers } from './writes/workers.ts'

export interface StoreOptions {
  readonly names: Names
  /** Whether statements are prepared under a name, and sessions set up. */
  readonly prepared: boolean
  readonly notifications: boolean
}

/** Connections that a starting worker needs at once: for claims, for its heartbeat and for LISTEN. */
const connectionsOfWorker = 3

/** Creates the connection of one engine or client to the database. Each method delegates to the file of its concern. */
export function createStore(
  connection: string | ClientPool,
  { names, prepared, notifications }: StoreOptions,
): StorePort {
  const database = new Database(connection, names, prepared)
  const hints = new Hints(database, notifications)
  const ownership = new Ownership()
  const workers = prepareWorkers(database, ownership)
  const createRuns = prepareCreate(database, ownership)
  const installRun = prepareInstall(database)
  const removals = prepareRemovals(database)
  const commitUnits = prepareCommit(database, ownership)
  const sendMessages = prepareSend(database, ownership)
  const cancelRun = prepareCancel(database, ownership)
  const markRun = prepareMark(database, ownership)
  const retryRun = prepareRetry(database)
  const restartRuns = prepareRestart(database)
  const claiming = prepareClaiming(database, ownership)
  const findAsk = prepareFindAsk(database)
  let askIdKey = ''
  const answerAsks = prepareAnswer(database, ownership, findAsk.byPosition)
  return {
    commitsInFlight: 2,

    async open(forWorker = false) {
      if (forWorker) database.connectAhead(connectionsOfWorker)
      await checkServer(database)
      await bringUpToDate(database)
      const text = `select (select coalesce(max(run), 0) from ${names.runs}) as newest,
        (select value from ${names.storeInfo} where name = 'ask-ids') as key`
      const [row] = await database.read<{ newest: number; key: string }>(text, [])
      database.plans.noteRun(row?.newest ?? 0)
      askIdKey = row?.key ?? ''
    },
    async close() {
      await Promise.all([hints.close(), database.close()])
    },
    async now() {
      const [row] = await database.read<{ now: number }>(`select ${storeTime} as now`, [])
      return row?.now ?? 0
    },

    // Read when the store was opened: it never changes.
    askIdKey: async () => askIdKey,

    // ── workers

    register: workers.register,
    beat: workers.beat,
    async sweep() {
      const count = await workers.sweep()
      if (count > 0) hints.send()
      return count
    },
    abilities: workers.abilities,
    listWorkers: workers.listWorkers,
    async release(worker) {
      await workers.release(worker)
      hints.send()
    },

    // ── the writes

    async create(runs) {
      if (runs.length === 0) return []
      const created = await createRuns(runs)
      // A run that is created claimed needs no other process yet, so no hint is sent.
      if (runs.some(({ worker }) => worker === null)) hints.send()
      return created
    },
    extract: prepareExtract(database),
    async install(copy, seq, events, last) {
      const installed = await installRun(copy, seq, events, last)
      if (last !== null) hints.send()
      return installed
    },
    ...removals,
    ...prepareCheckpointWrites(database),
    ...prepareNotices(database),
    async commit(worker, units) {
      if (units.length === 0) return []
      const outcomes = await commitUnits(worker, units)
      if (units.some((unit, i) => isAwaited(unit) || isHandedOver(unit, outcomes[i]))) hints.send()
      return outcomes
    },
    async send(messages, claimant) {
      if (messages.length === 0) return []
      const sent = await sendMessages(messages, claimant)
      // A message for a run of this process needs no other one.
      const isForOthers = sent.some(
        (one) => one.outcome === 'stored' && one.claimed === null && !ownership.owns(one.run),
      )
      if (isForOthers) hints.send()
      return sent
    },
    async answer(answers, claimant) {
      if (answers.length === 0) return []
      const answered = await answerAsks(answers, claimant)
      if (answered.some((one) => one.outcome === 'answered')) hints.send()
      return answered
    },
    async cancel(request, claimant) {
      const outcome = await cancelRun(request, claimant)
      // A request for a run of this process needs no other one.
      const isForOthers =
        outcome.outcome === 'stored' && outcome.claimed === null && !ownership.owns(outcome.run)
      if (isForOthers) hints.send()
      return outcome
    },
    holdMail: prepareHoldMail(database),
    async mark(worker, run, epoch, mark, reason, cause, seen, wakeAt) {
      const isMarked = await markRun(worker, run, epoch, mark, reason, cause, seen, wakeAt)
      if (isMarked) hints.send()
      return isMarked
    },

    // ── ownership

    claim: claiming.claim,
    suspects: claiming.suspects,
    take: claiming.take,
    cancelled: claiming.cancelled,
    takeCancelled: claiming.takeCancelled,
    endTest: claiming.endTest,
    backlog: prepareReadBacklog(database),
    async retryStuck(claimant) {
      const count = await claiming.retryStuck(claimant)
      if (count > 0) hints.send()
      return count
    },
    async restart(generations) {
      const isLive = await restartRuns(generations)
      if (isLive) hints.send()
      return isLive
    },
    async retry(run, mark) {
      const isDue = await retryRun(run, mark)
      if (isDue) hints.send()
      return isDue
    },
    mailOf: claiming.mailOf,

    // ── reads

    load: prepareReadLog(database),
    mail: prepareReadMail(database),
    reply: prepareReadReply(database),
    states: prepareReadStates(database),
    ...prepareCheckpointReads(database),
    countDescendants: prepareCountDescendants(database),
    find: prepareFindRun(database),
    // Lists need kysely, which takes longer to load than the rest; most processes never use them.
    async runs(filter) {
      const { listRuns } = await import('./reads/run-list.ts')
      return listRuns(database, filter)
    },
    ask: findAsk.byPosition,
    askOf: findAsk.byRunKey,
    askByKey: findAsk.byKey,
    async asks(filter) {
      const { listAsks } = await import('./reads/ask-list.ts')
      return listAsks(database, filter)
    },
    async countAsks(filter, limit) {
      const { countAsks } = await import('./reads/ask-count.ts')
      return countAsks(database, filter, limit)
    },

    feed: prepareReadFeed(database),
    trimFeed: prepareTrimFeed(database),

    // ── hints

    watch: (onHint) => hints.watch(onHint),
  }
}

/** Loads the migrations only if the schema is not current. */
async function bringUpToDate(database: Database): Promise<void> {
  if (isCurrent(await readVersion(database), database.names)) return
  const { migrate } = await import('./schema/migrate.ts')
  await migrate(database)
}

/** Parked and due at once: another worker should claim it. */
function isHandedOver({ next }: Unit, outcome: UnitOutcome | undefined): boolean {
  if (next.do !== 'park' || outcome?.outcome !== 'ok') return false
  return outcome.parked && next.wakeAt !== null && next.wakeAt <= outcome.at
}

/** Whether another process may wait for an effect. Who looks at exposed values polls. */
const isAwaitedEffect: { readonly [Kind in Effect['do']]: boolean } = {
  'open-ask': true,
  'close-ask': true,
  consume: false,
  'create-run': true,
  send: true,
  reply: true,
  'give-back': false,
  checkpoint: false,
  notify: true,
  expose: false,
  'begin-generation': false,
  show: false,
}

/** Returns whether another process may wait for the unit: for the end of the run, or for an effect. */
function isAwaited({ effects, next }: Unit): boolean {
  if (next.do === 'end') return true
  return effects.some((effect) => isAwaitedEffect[effect.do])
}
