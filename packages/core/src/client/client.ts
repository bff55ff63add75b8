import { definitionOf } from '../authoring/procedure.ts'
import { implement } from '../base/implement.ts'
import { checkName } from '../checks/options.ts'
import { optional, readOptions, type Spec } from '../checks/spec.ts'
import { guardVerbs } from '../host/guard/verbs.ts'
import { createCheckpoints } from './checkpoints/checkpoints.ts'
import { resume } from './checkpoints/resume.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { cursorOf, writeCursor } from './cursor.ts'
import { createInbox } from './inbox/inbox.ts'
import { noteConnection } from './internal.ts'
import { readLog } from './log/read.ts'
import { Mailer } from './mailer.ts'
import { pageLimit, readRunOptions, readRunOrGetOptions } from './options.ts'
import type { Page } from './page.ts'
import { cancelRun } from './runs/cancel.ts'
import { deleteRun } from './runs/delete.ts'
import { exportRun, exportStream } from './runs/export.ts'
import { forkRun, previewFork } from './runs/fork.ts'
import { createRunHandle } from './runs/handle.ts'
import { importRun } from './runs/import.ts'
import { conditionOptions } from './runs/query.ts'
import { previewRetry, retryRun } from './runs/retry.ts'
import { RunStarter } from './runs/start.ts'
import type { Client, RunFilter } from './types.ts'
import { readViews } from './views/read.ts'
import type { RunView } from './views/views.ts'

/** Creates a client. Beside a worker it shares the worker's store, and leaves it open when it is stopped. */
export function createConnectedClient(options: ConnectionOptions): Client {
  const connection = new Connection(options)
  const starter = new RunStarter(connection)
  const mailer = new Mailer(connection)
  const of = options.localWorker === undefined ? 'client' : 'engine'
  const client = implement<Client>({
    run: async (procedure: unknown, input?: unknown, given?: unknown) => {
      const { id } = await starter.start(procedure, input, readRunOptions(given), 'same-input')
      return createRunHandle(connection, mailer, id, definitionOf(procedure))
    },
    runOrGet: async (procedure: unknown, input: unknown, given: unknown) => {
      const { settings, ifEnded } = readRunOrGetOptions(given)
      checkName('id of runOrGet', settings.id)
      const existing = ifEnded === 'again' ? 'live' : 'any-input'
      const { id } = await starter.start(procedure, input, settings, existing)
      return createRunHandle(connection, mailer, id, definitionOf(procedure))
    },
    get: (procedureOrId: unknown, id?: string) =>
      typeof procedureOrId === 'string' && id === undefined
        ? createRunHandle(connection, mailer, checkName('id of get', procedureOrId), undefined)
        : createRunHandle(connection, mailer, checkName('id of get', id), definitionOf(procedureOrId)),
    list: (filter?: RunFilter) => listRuns(connection, filter),
    log: async (id: unknown, page?: unknown) => readLog(connection, id, page),
    retry: async (id: unknown, given?: unknown) => retryRun(connection, checkName('id of retry', id), given),
    fork: async (id: unknown, from: unknown, changes?: unknown) => {
      const made = await forkRun(connection, checkName('id of fork', id), from, changes)
      return createRunHandle(connection, mailer, made.id, undefined)
    },
    previewRetry: async (id: unknown) => previewRetry(connection, checkName('id of previewRetry', id)),
    previewFork: async (id: unknown, from: unknown, changes?: unknown) =>
      previewFork(connection, checkName('id of previewFork', id), from, changes),
    cancel: async (id: unknown, reason?: unknown, given?: unknown) =>
      cancelRun(connection, checkName('id of cancel', id), reason, given),
    delete: async (id: unknown, given?: unknown) =>
      deleteRun(connection, checkName('id of delete', id), given),
    export: async (id: unknown, given?: unknown) =>
      exportRun(connection, checkName('id of export', id), given),
    exportStream: (id: unknown, given?: unknown) =>
      exportStream(connection, checkName('id of exportStream', id), given),
    import: async (file: unknown, given?: unknown) => {
      const { id } = await importRun(connection, file, given)
      return createRunHandle(connection, mailer, id, undefined)
    },
    resume: async (request: unknown, as: unknown) =>
      createRunHandle(connection, mailer, await resume(connection, mailer, request, as), undefined),
    checkpoints: guardVerbs(`${of}.checkpoints`, createCheckpoints(connection)),
    inbox: guardVerbs(`${of}.inbox`, createInbox(connection, mailer)),
    stop: () => connection.stop(),
  })
  noteConnection(client, { connection, mailer })
  return guardVerbs(of, client, ['get'])
}

const listOptions = {
  ...conditionOptions,
  limit: pageLimit,
  cursor: optional(cursorOf(isKey)),
} satisfies Spec<RunFilter>

async function listRuns(connection: Connection, given: RunFilter | undefined): Promise<Page<RunView>> {
  const filter = readOptions('of list', given, listOptions, 'the filter of list')
  const { procedure, status, tag, parent, rollback, limit, cursor } = filter
  const store = await connection.begin()
  const rows = await store.runs.list({
    ...{ procedure, statuses: status, tag, parent, failedUndo: rollback },
    before: cursor?.before ?? null,
    limit: limit + 1,
  })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    items: await readViews(connection, page),
    cursor: rows.length > limit && last !== undefined ? writeCursor({ before: last.run }) : undefined,
  }
}

function isKey(cursor: unknown): cursor is { readonly before: number } {
  return Number.isSafeInteger((cursor as { readonly before?: unknown } | null)?.before)
}
