import fs from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { watchCommits } from '../src/watch.ts'
import { startProgram } from './support/programs.ts'
import { ownedRun, step } from './support/runs.ts'
import { openStore, tempFile } from './support/stores.ts'

describe('a hint', () => {
  it('a hint follows a commit of another process, even if no other commit follows', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const { run } = await ownedRun(store, 'a')
    const sender = await startProgram('sender', [file, 'a'])
    let hear = (): void => {}
    onTestFinished(store.watch(() => hear()))
    let hints = 0
    const count = 40
    for (let n = 1; n <= count; n++) {
      const hinted = new Promise<void>((resolve) => {
        hear = () => {
          hints++
          hear = () => {}
          resolve()
        }
      })
      sender.tell('next')
      // No hint comes of a commit that takes longer than the watch looks for it: engines poll as well.
      await Promise.race([hinted, wait(1_000)])
      await expect.poll(() => store.mail.list(run, n - 1)).toHaveLength(1)
    }
    expect(hints).toBeGreaterThan(count / 2)
    sender.finish()
    expect(await sender.end()).toBe(0)
  })

  it("a connection's own commits cause no hint", async () => {
    const file = tempFile()
    const store = await openStore(file)
    const standing = await ownedRun(store, 'a')
    const other = await openStore(file)
    let hints = 0
    const received = new Promise<void>((resolve) => {
      const stop = store.watch(() => {
        hints++
        resolve()
      })
      onTestFinished(stop)
    })
    for (let head = 1; head <= 10; head++) {
      // A reader like the store itself has seen it.
      const seen = nextHint(other)
      await store.log.commit(standing.worker, [step({ ...standing, head })])
      await seen
    }
    expect(hints).toBe(0)
    await other.workers.register({ name: 'w', leaseMs: 1000 })
    await received
    expect(hints).toBe(1)
  })

  it('hints come from polling while a file is busy; then it is watched again', async () => {
    const watching = vi.spyOn(fs, 'watch')
    onTestFinished(() => watching.mockRestore())
    const file = tempFile()
    let [version, hints, isBusy] = [0, 0, true]
    const write = () => fs.writeFileSync(`${file}-wal`, `${version}`)
    write()
    const whileBusy = new Promise<void>((resolve) => {
      const connection = {
        readVersion: () => (isBusy && hints > 0 ? ++version : version),
        countCommits: () => 0,
      }
      const onHint = () => {
        if (++hints === 20) resolve()
      }
      onTestFinished(watchCommits(file, connection, onHint))
    })
    const [first] = watching.mock.results.map(({ value }) => value as fs.FSWatcher)
    if (first === undefined) throw new Error('not watched')
    const closing = vi.spyOn(first, 'close')
    version++
    write()
    await whileBusy
    expect(watching).toHaveBeenCalledTimes(1)
    expect(closing).toHaveBeenCalledTimes(1)
    isBusy = false
    await expect.poll(() => watching.mock.calls.length).toBeGreaterThanOrEqual(2)
  })

  it('the file is polled a few times after it was touched, and then watched again', () => {
    const touches: ((event: string, name: string) => void)[] = []
    const watching = vi.spyOn(fs, 'watch').mockImplementation(((
      _path: string,
      _options: object,
      touch: never,
    ) => {
      touches.push(touch)
      return { on: () => {}, close: () => {} }
    }) as never)
    vi.useFakeTimers()
    onTestFinished(() => {
      vi.useRealTimers()
      watching.mockRestore()
    })
    const readVersion = vi.fn(() => 1)
    onTestFinished(watchCommits('pawl.db', { readVersion, countCommits: () => 0 }, () => {}))
    const countLooks = (): number => {
      readVersion.mockClear()
      for (const touch of touches) touch('change', 'pawl.db-wal')
      vi.advanceTimersByTime(60_000)
      return readVersion.mock.calls.length
    }
    // Of them one as it is watched again.
    expect(countLooks()).toBe(13)
    expect(vi.getTimerCount()).toBe(0)
    expect(countLooks()).toBe(13)
  })

  it('polling leaves time for other work if it is slow', async () => {
    const file = tempFile()
    const tookMs = 20
    const times: { readonly from: number; readonly to: number }[] = []
    let version = 0
    await new Promise<void>((resolve) => {
      // Another process commits all the time.
      const connection = { readVersion: () => version++, countCommits: () => 0 }
      const onHint = () => {
        const from = performance.now()
        while (performance.now() < from + tookMs);
        times.push({ from, to: performance.now() })
        if (times.length === 4) resolve()
      }
      onTestFinished(watchCommits(file, connection, onHint))
      fs.writeFileSync(`${file}-wal`, 'x')
    })
    const pauses = times.slice(1).map(({ from }, i) => from - (times[i]?.to ?? 0))
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(4 * tookMs)
  })

  it('hints continue after the last connection was closed and the -wal was created again', async () => {
    const watching = vi.spyOn(fs, 'watch')
    onTestFinished(() => watching.mockRestore())
    const file = tempFile()
    const store = await openStore(file)
    await ownedRun(store, 'a')
    let version = 0
    const received = new Promise<void>((resolve) => {
      onTestFinished(watchCommits(file, { readVersion: () => version, countCommits: () => 0 }, resolve))
    })
    await store.close()
    const again = await openStore(file)
    await expect.poll(() => watching.mock.calls.length).toBeGreaterThanOrEqual(2)
    version++
    await again.workers.register({ name: 'w', leaseMs: 1000 })
    await received
  })

  it('hints come from the new -wal even while another process keeps the old one', async () => {
    const file = tempFile()
    const wal = `${file}-wal`
    fs.writeFileSync(wal, 'old')
    const watching = vi.spyOn(fs, 'watch')
    onTestFinished(() => watching.mockRestore())
    let version = 0
    const received = new Promise<void>((resolve) => {
      onTestFinished(watchCommits(file, { readVersion: () => version, countCommits: () => 0 }, resolve))
    })
    fs.linkSync(wal, `${wal}.kept`)
    fs.rmSync(wal)
    fs.writeFileSync(wal, 'new')
    await expect.poll(() => watching.mock.calls.length).toBeGreaterThanOrEqual(2)
    version++
    fs.appendFileSync(wal, 'more')
    await received
  })

  it('other files in the directory cause no hint', async () => {
    const { watch } = fs
    const touched = new Set<string | null>()
    const watching = vi.spyOn(fs, 'watch').mockImplementation(((
      path: string,
      options: fs.WatchOptions,
      touch: fs.WatchListener<string>,
    ) =>
      watch(path, options, (event, name) => {
        touched.add(name)
        touch(event, name)
      })) as never)
    onTestFinished(() => watching.mockRestore())
    const file = tempFile()
    const store = await openStore(file)
    const other = await openStore(file)
    const received = new Promise<void>((resolve) => onTestFinished(store.watch(resolve)))
    fs.appendFileSync(`${file}.log`, 'a line of a log')
    await other.workers.register({ name: 'w', leaseMs: 1000 })
    await received
    expect([...touched]).toEqual([`${basename(file)}-wal`])
  })

  it('hints come from polling if the file cannot be watched', async () => {
    const refused = vi.spyOn(fs, 'watch').mockImplementation(() => {
      throw Object.assign(new Error('too many watches'), { code: 'ENOSPC' })
    })
    onTestFinished(() => refused.mockRestore())
    const file = tempFile()
    const store = await openStore(file)
    const other = await openStore(file)
    const received = new Promise<void>((resolve) => onTestFinished(store.watch(resolve)))
    await other.workers.register({ name: 'w', leaseMs: 1000 })
    await received
    expect(refused).toHaveBeenCalled()
  })

  it('watching does not keep a process alive', async () => {
    const program = await startProgram('watching', [tempFile()])
    expect(await program.line()).toBe('watching')
    expect(await program.end()).toBe(0)
  })
})

/** Resolves when the store has heard of a commit of others. */
function nextHint(store: Awaited<ReturnType<typeof openStore>>): Promise<void> {
  return new Promise((resolve) => {
    const stop = store.watch(() => {
      stop()
      resolve()
    })
  })
}
