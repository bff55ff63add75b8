// 200 child runs of one run, 10 at a time, on two workers, one of which is killed. The page of the run stays
// until Ctrl-C; --yes waits for no browser. FAN_OUT_MS is how long a photo takes.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createClient, type RunView, ref } from '@pawl/core'
import { createServer } from '@pawl/server'
import { sqlite } from '@pawl/storage-sqlite'
import { startChild } from '../../shared/src/child.ts'
import { tell } from '../../shared/src/tell.ts'
import { atOnce, type createAlbum } from './album.ts'
import { Ledger } from './ledger.ts'

const photos = Array.from({ length: 200 }, (_, n) => `photo-${String(n + 1).padStart(3, '0')}.jpg`)
const folder = await mkdtemp(join(tmpdir(), 'pawl-fan-out-'))
const isWatched = !process.argv.includes('--yes')
const env = { FAN_OUT_FOLDER: folder, FAN_OUT_MS: process.env['FAN_OUT_MS'] ?? (isWatched ? '1000' : '30') }
const client = createClient({ store: sqlite(join(folder, 'fan-out.db')) })
const ledger = new Ledger(join(folder, 'ledger.jsonl'))
const server = createServer({ client })
const { url } = await server.listen({ port: 0 })

tell.title('200 child runs, 10 at a time')
tell.text('One run starts a child for each photo. Two workers share them; one is killed half way.')
tell.text(`   Watch   ${url}&at=/runs/album%3A1`)
if (isWatched) await wait(5_000)

tell.act(1, 'Two workers begin')
const first = startChild('./worker', import.meta.url, { env })
const second = startChild('./worker', import.meta.url, { env })
await Promise.all([first.line(/working/), second.line(/working/)])
const run = await client.run(ref<Albums['album']>('album'), photos, { id: 'album:1' })

type Albums = ReturnType<typeof createAlbum>

let mostAtOnce = 0
let shown = -1
await until(({ progress }) => (progress?.done ?? 0) >= photos.length / 2)

tell.act(2, 'The busier one is killed')
const [killed, left] = ledger.entries().at(-1)?.worker === first.pid ? [first, second] : [second, first]
await killed.kill()
tell.died('the worker that resized the last photo')

tell.act(3, 'The other one finishes')
await until(({ status }) => status === 'completed')
const { photos: resized } = await run.result()
const ended = await run.status()
await left.kill()

tell.title('Verdict')
const entries = ledger.entries()
const keys = new Map<string, Set<string>>()
for (const { photo, key } of entries) keys.set(photo, (keys.get(photo) ?? new Set()).add(key))
const children = await countChildren()
const checks: readonly (readonly [string, boolean])[] = [
  ['the run has the result of every photo', resized === photos.length],
  [`the run has ${photos.length} children, and all have completed`, children === photos.length],
  ['every photo was resized', keys.size === photos.length],
  [
    'a photo that was resized again has the same key, and there are at most as many as the killed worker had at work',
    entries.length - photos.length <= atOnce && [...keys.values()].every(({ size }) => size === 1),
  ],
  ['both workers did a part', new Set(entries.map(({ worker }) => worker)).size === 2],
  [`at most ${atOnce} children were at work at once`, mostAtOnce > 0 && mostAtOnce <= atOnce],
  ['the progress says that all is done', ended.progress?.done === photos.length],
]
for (const [what, holds] of checks) (holds ? tell.passed : tell.failed)(what)
if (isWatched) {
  tell.text('', 'The page of the run is still there.', '   to stop   Ctrl-C')
  await once(process, 'SIGINT')
}
await server.stop()
await client.stop()
await rm(folder, { recursive: true, force: true })
process.exit(checks.every(([, holds]) => holds) ? 0 : 1)

/** Shows the progress until the run is in a state. */
async function until(isReached: (view: RunView) => boolean): Promise<void> {
  for (;;) {
    const view = await run.status()
    const live = await client.list({ parent: run.id, status: ['running', 'waiting'], limit: 100 })
    mostAtOnce = Math.max(mostAtOnce, live.items.length)
    const done = view.progress?.done ?? 0
    if (done >= shown + 20) {
      shown = done
      const bar = '#'.repeat(Math.floor((done / photos.length) * 40)).padEnd(40, '.')
      tell.line(bar, `${done} of ${photos.length}`)
    }
    if (isReached(view)) return
    await wait(20)
  }
}

async function countChildren(): Promise<number> {
  let found = 0
  for (let cursor: string | undefined; ; ) {
    const page = await client.list({
      ...{ parent: run.id, status: 'completed', limit: 100 },
      ...(cursor === undefined ? {} : { cursor }),
    })
    found += page.items.length
    if (page.cursor === undefined) return found
    cursor = page.cursor
  }
}
