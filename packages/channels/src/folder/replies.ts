import { type FSWatcher, watch } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { PawlError } from '@pawl/core'
import type { Sender, Submit } from '../channel.ts'
import { readWhole, writeWhole } from './files.ts'
import { fromSegment, QueueFolder } from './queue.ts'

/** Hints of the file system can be lost. */
const pollMs = 1_000
/** A reply that cannot be read after this time is not being written any more. */
const settledMs = 5_000
/** An answer has at most 2 MiB; as JSON text it may be longer. */
const maxReplyBytes = 4 * 1024 * 1024

/** Reads replies until it is stopped. */
export function watchReplies(root: string, submit: Submit): () => Promise<void> {
  let isStopped = false
  let looking = Promise.resolve()
  let isQueued = false
  const look = (): void => {
    if (isQueued || isStopped) return
    isQueued = true
    looking = looking.then(async () => {
      isQueued = false
      // A folder that cannot be read now is read at the next poll.
      if (!isStopped) await readAll(root, submit).catch(() => {})
    })
  }
  const timer = setInterval(look, pollMs)
  let watcher: FSWatcher | undefined
  const begin = async (): Promise<void> => {
    await mkdir(root, { recursive: true, mode: 0o770 })
    if (isStopped) return
    watcher = watch(root, { recursive: true }, look)
    watcher.on('error', () => watcher?.close())
    look()
  }
  const begun = begin().catch(() => {})
  return async () => {
    isStopped = true
    clearInterval(timer)
    await begun
    watcher?.close()
    await looking
  }
}

async function readAll(root: string, submit: Submit): Promise<void> {
  for (const scope of await list(root))
    for (const queue of await list(join(root, scope))) {
      const names = [fromSegment(scope), fromSegment(queue)]
      const [named, inScope] = names
      if (typeof named !== 'string' || typeof inScope !== 'string') continue
      const place = new QueueFolder(root, { scope: named, queue: inScope })
      for (const file of await list(place.pathOf('replies')))
        if (file.endsWith('.json') && !file.startsWith('.'))
          // A reply that cannot be handled now holds back no other one, and is read at the next look.
          await take(place, file, { audience: `queue:${named}/${inScope}`, submit }).catch(() => {})
    }
}

async function list(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => [])
}

interface Door {
  readonly audience: `queue:${string}/${string}`
  readonly submit: Submit
}

/** Passes one reply on, and removes it once it is stored or refused. After any other error the file is kept for the next poll. */
async function take(place: QueueFolder, file: string, { audience, submit }: Door): Promise<void> {
  const path = join(place.pathOf('replies'), file)
  const read = await readWhole(path, maxReplyBytes)
  if ('unfit' in read) return refuse(place, path, read.unfit)
  const reply = readReply(read.text)
  if (typeof reply === 'string') {
    if (await isSettled(path)) await refuse(place, path, reply)
    return
  }
  const ask = basename(file, '.json')
  try {
    await submit(fromSegment(ask) ?? ask, reply.resolution, {
      as: reply.by,
      names: [audience],
      digest: reply.digest,
    })
    await rm(path, { force: true })
  } catch (error) {
    if (!PawlError.is(error) || passing.includes(error.code)) return
    // The first attempt was stored, and its file was still there.
    const isOwn = PawlError.is(error, 'ask-closed') && error.details.winner?.by === reply.by
    await (isOwn ? rm(path, { force: true }) : refuse(place, path, error.message))
  }
}

/** Errors not caused by the reply; its file is kept. */
const passing: readonly PawlError['code'][] = ['engine-stopped', 'store-unusable', 'run-quarantined']

interface Reply {
  readonly by: Sender['as']
  readonly resolution: Parameters<Submit>[1]
  readonly digest: string | undefined
}

/** Reads a reply; a text says what is wrong with it. Text that is no decision is never taken for one. */
function readReply(text: string): Reply | string {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    return 'It is not JSON.'
  }
  const { by, resolution, digest } = (given ?? {}) as Partial<Reply>
  if (typeof by !== 'string' || !by.startsWith('user:'))
    return '`by` must name the person who decided, such as "user:ana".'
  if (typeof resolution !== 'object' || resolution === null || Array.isArray(resolution))
    return '`resolution` must be an object, such as {"decision": "approve"}.'
  if (digest !== undefined && typeof digest !== 'string') return '`digest` must be the one of the request.'
  return { by, resolution, digest }
}

async function isSettled(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  return found !== null && Date.now() - found.mtimeMs > settledMs
}

async function refuse(place: QueueFolder, path: string, why: string): Promise<void> {
  const refused = join(place.pathOf('refused'), `${Date.now()}-${basename(path)}`)
  await mkdir(place.pathOf('refused'), { recursive: true })
  await writeWhole(`${refused}.txt`, `${why}\n`)
  try {
    await rename(path, refused)
  } catch {
    // Another engine has refused it, or it cannot be moved: it is not reported anew at every look.
    await rm(`${refused}.txt`, { force: true })
  }
}
