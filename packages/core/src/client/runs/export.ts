import { readOptions } from '../../checks/spec.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { ChainCheck } from '../../events/chain-check.ts'
import type { StoredEvent } from '../../events/event.ts'
import { concernOf } from '../../ports/concerns.ts'
import { readAsk, readKeptCheckpoint, readNotice, understand } from '../../ports/rows.ts'
import type { RunExtract } from '../../ports/store/copies.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import type { StorePort } from '../../ports/store/store.ts'
import { type ExportHeader, type ExportRows, exportFormat } from '../../runs/export/format.ts'
import { ExportWriter } from '../../runs/export/write.ts'
import { isNote } from '../../runs/imported-children.ts'
import { actOptions } from '../act-options.ts'
import type { Connection } from '../connection.ts'
import { knownRun } from '../find-run.ts'
import { readPages } from '../log/pages.ts'
import { observeReading } from '../observed.ts'
import { explainUnread } from '../unread.ts'

/** Returns the file of a run. @throws PawlError 'run-not-found', 'run-quarantined' */
export async function exportRun(connection: Connection, id: string, given: unknown): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of exportStream(connection, id, given)) {
    parts.push(part)
    size += part.length
  }
  const file = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    file.set(part, at)
    at += part.length
  }
  return file
}

/** Yields the file of a run, as it is when the first part is read. @throws PawlError 'run-not-found', 'run-quarantined' */
export function exportStream(connection: Connection, id: string, given: unknown): AsyncGenerator<Uint8Array> {
  const { by } = readOptions('of export', given, actOptions)
  return observeReading(connection, { verb: 'export', run: id, by }, () => readParts(connection, id))
}

async function* readParts(connection: Connection, id: string): AsyncGenerator<Uint8Array> {
  try {
    yield* writeExport(connection, id)
  } catch (error) {
    throw explainUnread(id, `Run ${id}`, error)
  }
}

async function* writeExport(connection: Connection, id: string): AsyncGenerator<Uint8Array> {
  const { sha256 } = connection
  const store = await connection.begin()
  const extract = await concernOf(store, 'copies').extract(id)
  if (extract === null) throw new PawlError('run-not-found', { run: id })
  const rows = understand(() => rowsOf(extract))
  const { run, head } = extract.row
  const first = await findFirst(store, run, head)
  const header = headerOf(extract, first)
  const writer = new ExportWriter(sha256)
  const chain = new ChainCheck(sha256, first)
  yield* writer.begin(header)
  for await (const page of readPages(store, run, first, head))
    for (const event of page) yield* writer.addEvent(chain.add(event))
  chain.end(header)
  yield* writer.end(rows)
}

/** Returns the seq of the first event of the first generation that is whole: one may be in the course of being dropped. */
async function findFirst(store: StorePort, run: RunKey, head: number): Promise<number> {
  const isFirst = ({ type }: StoredEvent): boolean => type === 'started'
  for (let seq = 0; seq < head; ) {
    const page = await store.log.load(run, seq, seq === 0 ? 1 : pageSize)
    const found = page.find(isFirst)
    if (found !== undefined) return found.seq
    if (page.length === 0) break
    seq = (page.at(-1)?.seq ?? seq) + 1
  }
  return 0
}

const pageSize = 1_000

function headerOf({ row }: RunExtract, first: number): ExportHeader {
  const { id, procedure, version, state, base, head, link, createdAt, endedAt, cancelAt, tags } =
    knownRun(row)
  const { startedBy, parent, info } = row
  return {
    ...{ format: exportFormat, id, procedure, version, state, first, base, head, link, createdAt, endedAt },
    ...{ cancelAt, tags, startedBy, parent: parent && { run: parent.run, position: parent.position }, info },
  }
}

/** Every store returns the same rows, with the same members in the same order, so that files are equal. */
function rowsOf({ messages, asks, states, checkpoints, notices }: RunExtract): ExportRows {
  return {
    messages: messages
      .filter((message) => !isNote(message))
      .map(({ n, at, kind, name, key, used, payload, by }) => ({
        ...{ n, at, kind, name, key, used, payload },
        ...(by === null ? {} : { by }),
      })),
    asks: asks.map((row) => {
      const { position, kind, key, urgency, to, escalateTo, dueAt, closesAt, payload, ...rest } = readAsk(row)
      const { status, openedAt, closedAt, answeredBy, answer } = rest
      return {
        ...{ position, kind, key, urgency, to, escalateTo, dueAt, closesAt, payload },
        ...{ status, openedAt, closedAt, answeredBy, answer },
      }
    }),
    states: states
      .map(({ name, at, payload }) => ({ name, at, payload }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    checkpoints: checkpoints.map((row) => {
      const { slot, position, seq, at, name, payload } = readKeptCheckpoint(row)
      return { slot, position, seq, at, name, payload }
    }),
    notices: notices.map((row) => {
      const { position, digest, seq, at, kind, severity, to, payload } = readNotice(row)
      return { position, digest, seq, at, kind, severity, to, payload }
    }),
  }
}
