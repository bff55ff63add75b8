import type { Cancelled, Claimant, Claims, StorePort, Unit, UnitOutcome, WorkerKey } from '@pawl/core/storage'
import { Connection, type Environment, UnknownOutcome } from './connection/connection.ts'
import { realFile } from './connection/real-file.ts'
import { prepareStatements, type Statements } from './statements.ts'
import { Claiming, Transactions } from './transactions.ts'
import { watchCommits } from './watch.ts'
import { Conflict } from './writes/commit.ts'

/** Maximum runs of dead workers handed back in one transaction, which blocks the event loop for a few ms. */
const sweepSize = 1000

/** Creates the store port on one connection to a file. */
export function createStore(file: string, environment: Environment): StorePort {
  const connection = new Connection(file === '' ? file : realFile(file), prepareStatements, environment)
  const transactions = new Transactions(connection)
  return {
    open: () => connection.open(),
    close: async () => connection.close(),
    now: () => connection.read((_, at) => at),
    askIdKey: () => connection.read(({ readAskIdKey }) => readAskIdKey()),

    // ── workers

    register: (worker) => connection.write(({ workers }, at) => workers.register(worker, at)),
    async beat(worker) {
      connection.inspect()
      return connection.write(({ workers }, at) => workers.beat(worker, at))
    },
    async sweep() {
      let handedBack = 0
      // Most sweeps find nothing and then need no lock.
      while (await connection.read(({ workers }, at) => workers.findsWork(at)))
        handedBack += await connection.write(({ workers }, at) => workers.sweep(at, sweepSize))
      return handedBack
    },
    abilities: () => connection.read(({ workers }, at) => workers.listAbilities(at)),
    listWorkers: () => connection.read(({ workers }, at) => workers.listWorkers(at)),
    release: (worker) => connection.write(({ workers }, at) => workers.release(worker, at)),

    // ── the writes

    create(runs) {
      const granted = runs.flatMap(({ id, worker }) => (worker === null ? [] : { id, worker, epoch: 1 }))
      return transactions.granting(({ create }, at) => ({ result: create(runs, at), granted }))
    },
    extract: (id) => connection.read(({ extract }) => extract(id)),
    install: (copy, seq, events, last) =>
      connection.write(({ install }, at) => install(copy, seq, events, last, at)),
    remove: (runs) => connection.write(({ removals }) => runs.map((run) => removals.remove(run))),
    removeQuarantined: (removal) =>
      connection.write(({ removals }, at) => removals.removeQuarantined(removal, at)),
    clear: (limit) => connection.write(({ removals }, at) => removals.clear(limit, at)),
    dropGeneration: (run, before, limit) =>
      connection.write(({ removals }) => removals.dropGeneration(run, before, limit)),
    ended: (before, span) => connection.read(({ removals }) => removals.ended(before, span)),
    decisions: (query) => connection.read(({ removals }) => removals.decisions(query)),
    sealDecisions: (seals) => connection.write(({ removals }) => removals.sealDecisions(seals)),
    forgetDecisions: (procedure, before, limit) =>
      connection.write(({ removals }) => removals.forgetDecisions(procedure, before, limit)),
    decidedProcedures: () => connection.read(({ removals }) => removals.decidedProcedures()),
    addCheckpoint: (run, checkpoint) =>
      connection.write(({ checkpoints }, at) => checkpoints.add(run, checkpoint, at)),
    notices: (query) => connection.read(({ noticeReads }) => noticeReads.list(query)),
    markRead: (numbers, reader) => connection.write(({ notices }) => notices.markRead(numbers, reader)),
    removeCheckpoints: (numbers) => connection.write(({ checkpoints }) => checkpoints.remove(numbers)),
    commit: (worker, units) => commit(connection, transactions, worker, units),
    send: (messages, claimant) =>
      transactions.delivering(messages, claimant, ({ send }, message, at) => send(message, at)),
    answer: (answers, claimant) =>
      transactions.delivering(answers, claimant, ({ answer }, given, at) => answer(given, at)),
    async cancel(request, claimant) {
      const [outcome] = await transactions.delivering([request], claimant, ({ cancel }, given, at) =>
        cancel(given, at),
      )
      return outcome as Cancelled
    },
    holdMail: (worker, run, epoch, forMs) =>
      connection.write((statements, at) => statements.holdMail(worker, run, epoch, at + forMs)),
    mark: (worker, run, epoch, mark, reason, cause, seen, wakeAt) =>
      connection.write((statements, at) =>
        statements.mark(worker, run, epoch, mark, reason, cause, seen, wakeAt, at),
      ),

    // ── ownership

    async claim(claimant, limit) {
      const { claims, isAnyDue } = await connection.read((statements, at) => ({
        isAnyDue: limit > 0 && statements.claims.findDue(claimant, 1, at).length > 0,
        claims: { runs: [], at, ...look(statements, claimant, at) },
      }))
      // Usually nothing is due, and then no lock is needed.
      if (!isAnyDue) return claims
      return transactions.granting((statements, at) => {
        const claimed = new Claiming(statements, claimant, at)
        const runs = statements.claims.findDue(claimant, limit, at).flatMap((run) => claimed.take(run) ?? [])
        const result = { runs, at, ...look(statements, claimant, at) }
        return { result, granted: claimed.granted }
      })
    },
    suspects: (claimant, limit) =>
      connection.read(({ claims }, at) => claims.findSuspects(claimant, limit, at)),
    take: (claimant, runs) =>
      transactions.granting((statements, at) => {
        const claimed = new Claiming(statements, { ...claimant, suspects: 'all' }, at)
        return { result: runs.flatMap((run) => claimed.take(run) ?? []), granted: claimed.granted }
      }),
    cancelled: (ageMs, limit) =>
      connection.read(({ claims }, at) => claims.findCancelled(at - ageMs, limit, at)),
    takeCancelled: (worker, runs) =>
      transactions.granting((statements, at) => {
        const claimed = runs.flatMap((run) => statements.claims.claimCancelled(run, worker, at) ?? [])
        return { result: claimed, granted: claimed.map((one) => ({ ...one, worker })) }
      }),
    endTest: (worker) => connection.write(({ claims }) => claims.endTest(worker)),
    backlog: () => connection.read(({ readBacklog }, at) => readBacklog(at)),
    retryStuck: (claimant) => connection.write(({ claims }, at) => claims.retryStuck(claimant, at)),
    retry: (run, mark) => connection.write((statements, at) => statements.retry(run, mark, at)),
    restart: (generations) => connection.write(({ restart }, at) => restart(generations, at)),
    mailOf: (worker) => connection.read(({ mail }) => mail.readMailOf(worker)),

    // ── reads

    load: (run, seq, limit) => connection.read(({ readLog }) => readLog(run, seq, limit)),
    mail: (run, after) => connection.read(({ mail }) => mail.readMail(run, after)),
    reply: (run, key) => connection.read(({ mail }) => mail.readReply(run, key)),
    states: (run, name) => connection.read(({ readStates }) => readStates(run, name)),
    checkpoint: (run, slot) => connection.read(({ checkpointReads }) => checkpointReads.find(run, slot)),
    checkpoints: (query) => connection.read(({ checkpointReads }) => checkpointReads.list(query)),
    checkpointPlaces: (query) => connection.read(({ checkpointReads }) => checkpointReads.places(query)),
    countDescendants: (id, limit) => connection.read(({ countDescendants }) => countDescendants(id, limit)),
    find: (id) => connection.read(({ readRun }) => readRun(id)),
    // Loaded on demand: lists need kysely, which is slow to load, and most processes never list.
    async runs(filter) {
      const { listRuns } = await import('./reads/run-list.ts')
      return connection.read(({ readAll }, at) => listRuns(readAll, filter, at))
    },
    ask: (run, position) => connection.read(({ asks }) => asks.readAsk(run, position)),
    askOf: (run, position) => connection.read(({ asks }) => asks.readAskOf(run, position)),
    askByKey: (run, key) => connection.read(({ asks }) => asks.readAskByKey(run, key)),
    async asks(filter) {
      const { listAsks } = await import('./reads/ask-list.ts')
      return connection.read(({ readAll }) => listAsks(readAll, filter))
    },
    async countAsks(filter, limit) {
      const { countAsks } = await import('./reads/ask-count.ts')
      return connection.read(({ readAll }) => countAsks(readAll, filter, limit))
    },

    feed: (after, limit) => connection.read(({ readFeed }) => readFeed(after, limit)),
    async trimFeed(before, limit) {
      // Nearly always there is nothing to delete, which needs no lock.
      if (!(await connection.read(({ feed }) => feed.isOlder(before)))) return 0
      return connection.write(({ feed }) => feed.trim(before, limit))
    },

    // ── hints

    watch: (onHint) =>
      watchCommits(
        connection.file,
        { readVersion: () => readVersion(connection), countCommits: () => connection.commits },
        onHint,
      ),
  }
}

/** Reads the parts of `Claims` other than its runs. */
function look({ claims }: Statements, claimant: Claimant, at: number): Omit<Claims, 'runs' | 'at'> {
  return { nextDueAt: claims.findNextDue(claimant), leavesSuspects: claims.leavesSuspects(claimant, at) }
}

async function commit(
  connection: Connection<Statements>,
  transactions: Transactions,
  worker: WorkerKey,
  units: readonly Unit[],
): Promise<readonly UnitOutcome[]> {
  const conflicts = new Set<number>()
  for (;;) {
    try {
      return await connection.write((statements, at) => statements.commit(worker, units, conflicts, at))
    } catch (error) {
      // These runs must not proceed until it is known whether the commit was stored.
      if (error instanceof UnknownOutcome)
        return transactions.untilDone(({ reclaim }, at, raises) =>
          units.map((unit) => reclaim(worker, unit, raises, at)),
        )
      // Conflicts are rare, so the other units are simply written again.
      if (!(error instanceof Conflict)) throw error
      conflicts.add(error.index)
    }
  }
}

/** Returns undefined while the file is locked or damaged. Any read reports the reason. */
function readVersion(connection: Connection<Statements>): number | undefined {
  try {
    return connection.peek()?.readDataVersion()
  } catch {
    return undefined
  }
}
