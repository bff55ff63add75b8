import type { StorePort } from '@pawl/core/storage'
import { readFeed, trimFeed } from './feed.ts'
import { listNotices, markRead } from './notices.ts'
import { countAsks, listAsks } from './reads/ask-list.ts'
import { showAsk } from './reads/asks.ts'
import { readBacklog } from './reads/backlog.ts'
import { findCheckpoint, listCheckpointPlaces, listCheckpoints } from './reads/checkpoints.ts'
import { countDescendants } from './reads/descendants.ts'
import { extractRun } from './reads/extract.ts'
import { readLog } from './reads/log.ts'
import { readMail, readMailOf, readReply } from './reads/mail.ts'
import { listRuns } from './reads/run-list.ts'
import { showRun } from './reads/runs.ts'
import { readStates } from './reads/states.ts'
import type { Tables, WorkerRecord } from './tables.ts'
import { Hints } from './watch.ts'
import { giveAnswer } from './writes/answer.ts'
import { requestCancel } from './writes/cancel.ts'
import { addCheckpoint, removeCheckpoints } from './writes/checkpoints.ts'
import {
  claimDue,
  endTest,
  findCancelled,
  findSuspects,
  retryStuck,
  takeCancelled,
  takeRun,
  takeRuns,
} from './writes/claim.ts'
import { commitUnit } from './writes/commit.ts'
import { createRun } from './writes/create.ts'
import { holdMail } from './writes/hold.ts'
import { installRun } from './writes/install.ts'
import { retryRun, setMark } from './writes/mark.ts'
import {
  clear,
  dropGeneration,
  forgetDecisions,
  listDecisions,
  listEnded,
  removeQuarantined,
  removeRun,
  sealDecisions,
} from './writes/remove.ts'
import { restartRuns } from './writes/restart.ts'
import { sendMessage } from './writes/send.ts'
import { addWorker, beat, declareDead, listAbilities, listWorkers, release, sweep } from './writes/workers.ts'

/**
 * Connects to the smallest correct store. Every method does its whole work synchronously, before the first `await`,
 * which makes it a transaction in a single-threaded program.
 * @param process owner of the connection; its own writes give it no hints
 */
export function createStore(tables: Tables, readTime: () => number, process: object = {}): StorePort {
  const hints = new Hints(tables, process)
  /** Workers registered through this connection. */
  const workers: WorkerRecord[] = []
  let isOpen = false

  async function read<T>(work: (now: number) => T): Promise<T> {
    if (!isOpen) throw new Error('The connection to the store is not open.')
    return work(readTime())
  }
  /** Writes and hints. @param isNews whether other processes may wait for the result. Default: always. */
  function write<T>(work: (now: number) => T, isNews: (result: T) => boolean = () => true): Promise<T> {
    return read((now) => {
      const result = work(now)
      if (isNews(result)) hints.send()
      return result
    })
  }

  return {
    async open() {
      isOpen = true
    },
    /** Ends the connection as the end of its process would: workers that have not released their runs are dead. */
    async close() {
      isOpen = false
      for (const worker of workers) declareDead(tables, worker)
      hints.close()
    },
    now: () => read((now) => now),
    // The same for all memory stores, so that a test sees the same ids every time.
    askIdKey: () => read(() => 'memory'),

    // ── workers

    register: (worker) =>
      read((now) => {
        const record = addWorker(tables, worker, now)
        workers.push(record)
        return record.worker
      }),
    beat: (worker) => read((now) => beat(tables, worker, now)),
    sweep: () =>
      write(
        (now) => sweep(tables, now),
        (count) => count > 0,
      ),
    abilities: () => read((now) => listAbilities(tables, now)),
    listWorkers: () => read((now) => listWorkers(tables, now)),
    release: (worker) => write((now) => release(tables, worker, now)),

    // ── the writes

    create: (runs) => write((now) => runs.map((run) => createRun(tables, run, now))),
    install: (copy, seq, events, last) =>
      write(
        (now) => installRun(tables, copy, seq, events, last, now),
        () => last !== null,
      ),
    extract: (id) => read(() => extractRun(tables, id)),
    remove: (runs) => write(() => runs.map((run) => removeRun(tables, run))),
    removeQuarantined: (removal) => write((at) => removeQuarantined(tables, removal, at)),
    clear: () => read((now) => clear(tables, now)),
    dropGeneration: (run, before, limit) => read(() => dropGeneration(tables, run, before, limit)),
    ended: (before, span) => read(() => listEnded(tables, before, span)),
    decisions: (query) => read(() => listDecisions(tables, query)),
    sealDecisions: (seals) => read(() => sealDecisions(tables, seals)),
    forgetDecisions: (procedure, before, limit) =>
      read(() => forgetDecisions(tables, procedure, before, limit)),
    decidedProcedures: () => read(() => [...new Set(tables.decisions.map(({ procedure }) => procedure))]),
    notices: (query) => read(() => listNotices(tables, query)),
    markRead: (numbers, reader) => read(() => markRead(tables, numbers, reader)),
    addCheckpoint: (run, checkpoint) => read((now) => addCheckpoint(tables, run, checkpoint, now)),
    removeCheckpoints: (numbers) => read(() => removeCheckpoints(tables, numbers)),
    commit: (worker, units) => write((now) => units.map((unit) => commitUnit(tables, worker, unit, now))),
    send: (messages, claimant) =>
      write((now) =>
        messages
          .map((message) => sendMessage(tables, message, now))
          .map((one) => ('run' in one ? { ...one, claimed: takeRun(tables, one.run, claimant, now) } : one)),
      ),
    answer: (answers, claimant) =>
      write((now) =>
        answers
          .map((answer) => giveAnswer(tables, answer, now))
          .map((one) =>
            one.outcome === 'answered' ? { ...one, claimed: takeRun(tables, one.run, claimant, now) } : one,
          ),
      ),
    cancel: (request, claimant) =>
      write((now) => {
        const one = requestCancel(tables, request, now)
        return 'run' in one ? { ...one, claimed: takeRun(tables, one.run, claimant, now) } : one
      }),
    holdMail: (worker, run, epoch, forMs) => read((now) => holdMail(tables, worker, run, epoch, now + forMs)),
    mark: (worker, run, epoch, mark, reason, cause, seen, wakeAt) =>
      write(
        (now) => setMark(tables, worker, run, epoch, mark, reason, cause, seen, wakeAt, now),
        (isMarked) => isMarked,
      ),

    // ── ownership

    claim: (claimant, limit) => read((now) => claimDue(tables, claimant, limit, now)),
    suspects: (claimant, limit) => read((now) => findSuspects(tables, claimant, limit, now)),
    take: (claimant, runs) => read((now) => takeRuns(tables, claimant, runs, now)),
    cancelled: (ageMs, limit) => read((now) => findCancelled(tables, ageMs, limit, now)),
    takeCancelled: (worker, runs) => read((now) => takeCancelled(tables, worker, runs, now)),
    endTest: (worker) => read(() => endTest(tables, worker)),
    backlog: () => read((now) => readBacklog(tables, now)),
    retryStuck: (claimant) =>
      write(
        (now) => retryStuck(tables, claimant, now),
        (count) => count > 0,
      ),
    retry: (run, mark) =>
      write(
        (now) => retryRun(tables, run, mark, now),
        (isDue) => isDue,
      ),
    restart: (generations) =>
      write(
        (now) => restartRuns(tables, generations, now),
        (isLive) => isLive,
      ),
    mailOf: (worker) => read(() => readMailOf(tables, worker)),

    // ── reads

    load: (run, seq, limit) => read(() => readLog(tables, run, seq, limit)),
    mail: (run, after) => read(() => readMail(tables, run, after)),
    reply: (run, key) => read(() => readReply(tables, run, key)),
    checkpoint: (run, slot) => read(() => findCheckpoint(tables, run, slot)),
    checkpoints: (query) => read(() => listCheckpoints(tables, query)),
    checkpointPlaces: (query) => read(() => listCheckpointPlaces(tables, query)),
    states: (run, name) => read(() => readStates(tables, run, name)),
    countDescendants: (id, limit) => read(() => countDescendants(tables, id, limit)),
    find: (id) =>
      read(() => {
        const run = tables.runs.get(id)
        return run ? showRun(run) : null
      }),
    runs: (filter) => read((now) => listRuns(tables, filter, now)),
    ask: (id, position) =>
      read(() => {
        const ask = tables.runs.get(id)?.asks.get(position)
        return ask ? showAsk(ask) : null
      }),
    askOf: (run, position) =>
      read(() => {
        const ask = tables.runsByKey.get(run)?.asks.get(position)
        return ask ? showAsk(ask) : null
      }),
    askByKey: (id, key) =>
      read(() => {
        const ask = tables.runs.get(id)?.asksByKey.get(key)
        return ask ? showAsk(ask) : null
      }),
    asks: (filter) => read(() => listAsks(tables, filter)),
    countAsks: (filter, limit) => read(() => countAsks(tables, filter, limit)),

    feed: (after, limit) => read(() => readFeed(tables, after, limit)),
    trimFeed: (before, limit) => write(() => trimFeed(tables, before, limit)),

    // ── hints

    watch: (onHint) => hints.watch(onHint),
  }
}
