import type { Database } from './connection/database.ts'
import { prepareReadAll, type ReadAll } from './connection/read-all.ts'
import { type AskReads, prepareAskReads } from './reads/asks.ts'
import { prepareReadBacklog, type ReadBacklog } from './reads/backlog.ts'
import { type CheckpointReads, prepareCheckpointReads } from './reads/checkpoints.ts'
import { type CountDescendants, prepareCountDescendants } from './reads/descendants.ts'
import { type Extract, prepareExtract } from './reads/extract.ts'
import { prepareReadFeed, type ReadFeed } from './reads/feed.ts'
import { prepareReadLog, type ReadLog } from './reads/log.ts'
import { type MailReads, prepareMailReads } from './reads/mail.ts'
import { type NoticeReads, prepareNoticeReads } from './reads/notices.ts'
import { prepareReadRun, type ReadRun } from './reads/runs.ts'
import { prepareReadStates, type ReadStates } from './reads/states.ts'
import { prepareSurvey, type Survey } from './reads/survey.ts'
import { type Answer, prepareAnswer } from './writes/answer.ts'
import { prepareAskNames } from './writes/ask-names.ts'
import { type Cancel, prepareCancel, prepareLeaveCancel } from './writes/cancel.ts'
import { type CheckpointWrites, prepareCheckpointWrites } from './writes/checkpoints.ts'
import { type ClaimWrites, prepareClaims } from './writes/claim.ts'
import { type Commit, prepareCommit } from './writes/commit.ts'
import { type Create, prepareCreate } from './writes/create.ts'
import { type FeedWrites, prepareFeedWrites } from './writes/feed.ts'
import { type HoldMail, prepareHoldMail } from './writes/hold.ts'
import { type Install, prepareInstall } from './writes/install.ts'
import { type Isolate, prepareIsolate } from './writes/isolate.ts'
import { prepareMark, prepareRetry, type Retry, type SetMark } from './writes/mark.ts'
import { prepareLeaveMessage } from './writes/message.ts'
import { type NoticeWrites, prepareNoticeWrites } from './writes/notices.ts'
import { prepareOtherRuns } from './writes/others.ts'
import { type Disown, prepareDisown, prepareReclaim, type Reclaim } from './writes/reclaim.ts'
import { prepareRemovals, type Removals } from './writes/remove.ts'
import { prepareRestart, type Restart } from './writes/restart.ts'
import { prepareSend, type Send } from './writes/send.ts'
import { prepareWorkers, type Workers } from './writes/workers.ts'

/** Holds every statement of the store by purpose, prepared once per connection, and what is rare not before it is used. */
export interface Statements {
  readonly workers: Workers
  readonly create: Create['create']
  readonly install: Install
  readonly extract: Extract
  readonly removals: Removals
  readonly commit: Commit
  readonly reclaim: Reclaim
  readonly disown: Disown
  readonly send: Send
  readonly answer: Answer
  readonly cancel: Cancel
  readonly holdMail: HoldMail
  readonly mark: SetMark
  readonly retry: Retry
  readonly restart: Restart
  readonly isolate: Isolate
  readonly claims: ClaimWrites
  readonly readBacklog: ReadBacklog
  readonly readLog: ReadLog
  readonly readFeed: ReadFeed
  readonly feed: FeedWrites
  readonly mail: MailReads
  readonly readRun: ReadRun
  readonly readStates: ReadStates
  readonly countDescendants: CountDescendants
  readonly survey: Survey
  readonly checkpointReads: CheckpointReads
  readonly checkpoints: CheckpointWrites
  readonly noticeReads: NoticeReads
  readonly notices: NoticeWrites
  readonly asks: AskReads
  readonly readAll: ReadAll
  /** Returns the key of the ids of asks. */
  readAskIdKey(): string
  /** Returns a number that changes when another connection commits. */
  readDataVersion(): number
}

export function prepareStatements(database: Database): Statements {
  const asks = prepareAskReads(database)
  const askNames = prepareAskNames(database)
  const feed = prepareFeedWrites(database)
  const readRun = prepareReadRun(database)
  const readStates = prepareReadStates(database)
  const leaveMessage = prepareLeaveMessage(database)
  const leaveCancel = prepareLeaveCancel(database, leaveMessage)
  const checkpoints = prepareCheckpointWrites(database)
  const notices = whenUsed(() => prepareNoticeWrites(database, feed))
  const creating = prepareCreate(database)
  const others = prepareOtherRuns(database, creating, leaveMessage, leaveCancel)
  const dataVersion = database.prepare<[], number>('pragma data_version').pluck()
  const askIdKey = database.prepare<[], string>("select value from store_info where name = 'ask-ids'").pluck()
  const install = whenUsed(() => prepareInstall(database, askNames, feed, checkpoints, notices))
  const removals = whenUsed(() => prepareRemovals(database, others, notices))
  const cancel = whenUsed(() => prepareCancel(database, leaveCancel))
  const holdMail = whenUsed(() => prepareHoldMail(database))
  const retry = whenUsed(() => prepareRetry(database))
  const restart = whenUsed(() => prepareRestart(database, checkpoints))
  const isolate = whenUsed(() => prepareIsolate(database))
  const readBacklog = whenUsed(() => prepareReadBacklog(database))
  const countDescendants = whenUsed(() => prepareCountDescendants(database))
  const survey = whenUsed(() => prepareSurvey(database))
  const noticeReads = whenUsed(() => prepareNoticeReads(database))
  const checkpointReads = whenUsed(() => prepareCheckpointReads(database))
  return {
    workers: prepareWorkers(database),
    create: creating.create,
    get install() {
      return install()
    },
    extract: prepareExtract(database, readRun, readStates, noticeReads),
    get removals() {
      return removals()
    },
    commit: prepareCommit(database, askNames, feed, others, checkpoints, notices),
    reclaim: prepareReclaim(database),
    disown: prepareDisown(database),
    send: prepareSend(database, leaveMessage),
    answer: prepareAnswer(database, asks, askNames, feed, leaveMessage),
    get cancel() {
      return cancel()
    },
    get holdMail() {
      return holdMail()
    },
    mark: prepareMark(database, feed),
    get retry() {
      return retry()
    },
    get restart() {
      return restart()
    },
    get isolate() {
      return isolate()
    },
    claims: prepareClaims(database),
    get readBacklog() {
      return readBacklog()
    },
    readLog: prepareReadLog(database),
    readFeed: prepareReadFeed(database),
    feed,
    mail: prepareMailReads(database),
    readRun,
    readStates,
    get countDescendants() {
      return countDescendants()
    },
    get survey() {
      return survey()
    },
    get noticeReads() {
      return noticeReads()
    },
    get notices() {
      return notices()
    },
    get checkpointReads() {
      return checkpointReads()
    },
    checkpoints,
    asks,
    readAll: prepareReadAll(database),
    readAskIdKey: () => askIdKey.get() as string,
    readDataVersion: () => dataVersion.get() as number,
  }
}

/** Delays preparing what most processes never use: it would make every engine start later. */
function whenUsed<Prepared>(prepare: () => Prepared): () => Prepared {
  let prepared: Prepared | undefined
  return () => (prepared ??= prepare())
}
