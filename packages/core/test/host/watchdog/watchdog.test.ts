import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import {
  at,
  noteBody,
  noteBodyEnd,
  noteBodyReturned,
  noteTurn,
  watchCell,
} from '../../../src/host/watchdog/cell.ts'
import { startWatchdog, watchFromNowOn } from '../../../src/host/watchdog/watchdog.ts'
import { startProgram } from '../run-program.ts'
import { runToEnd } from '../run-to-end.ts'

describe('the watchdog', () => {
  test('names a run whose turn does not end, while it blocks', async () => {
    const child = startProgram('holding', ['endless'])
    const ended = once(child, 'close')
    const { value: line } = await createInterface(child.stderr)[Symbol.asyncIterator]().next()
    child.kill('SIGKILL')
    expect(line).toMatch(
      /^pawl: Run "A-1" has blocked the event loop for \d+\.\d s in one turn\. .* kill this process: no run is lost\.$/,
    )
    await ended
  })

  test('names code that blocks the event loop, reports the time, and keeps no process alive', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-holding-'))
    const child = startProgram('holding', [folder])
    const ended = once(child, 'close')
    const stdout = text(child.stdout)
    const lines: string[] = []
    // A line is the signal to unblock.
    for await (const line of createInterface(child.stderr))
      writeFileSync(join(folder, String(lines.push(line))), '')
    const [code] = await ended
    rmSync(folder, { recursive: true })

    const [turn, body, loop, ...rest] = lines
    expect(turn).toMatch(/^pawl: Run "A-1" has blocked the event loop/)
    expect(body).toMatch(/^pawl: The body of step "parse" of run "A-1" has blocked the event loop/)
    expect(loop).toMatch(
      /^pawl: The event loop .* in progress: step "load" of run "A-1", step "sort" of run "A-1"\./,
    )
    expect(rest).toEqual([])
    expect(JSON.parse(await stdout)).toEqual([
      { holder: 'turn', names: ['A-1'], long: true },
      { holder: 'body', names: ['step "parse" of run "A-1"'], long: true },
      { holder: 'loop', names: ['step "load" of run "A-1"', 'step "sort" of run "A-1"'], long: true },
    ])
    expect(code).toBe(0)
  })

  test('uses the lowest requested threshold, and stops with the last user', () => {
    const bound = () => Atomics.load(watchCell.numbers, at.bound)
    const watcher = () => Atomics.load(watchCell.numbers, at.watcher)
    const before = watcher()
    const stopFirst = startWatchdog({ boundMs: 60_000 })
    watchFromNowOn()
    const stopSecond = startWatchdog({ boundMs: 30_000 })
    expect(bound()).toBe(30_000)
    stopSecond()
    stopSecond()
    expect([bound(), watcher(), watchCell.watched]).toEqual([60_000, before, true])
    stopFirst()
    expect([watcher(), watchCell.watched]).toEqual([before + 1, false])
  })

  test('starts only when there is code to watch and a user', () => {
    watchFromNowOn()
    expect(watchCell.watched).toBe(false)
    const stop = startWatchdog()
    expect(watchCell.watched).toBe(false)
    watchFromNowOn()
    expect(watchCell.watched).toBe(true)
    stop()
    watchFromNowOn()
    expect(watchCell.watched).toBe(false)
  })

  test('starts before the first step body', async () => {
    const stop = startWatchdog()
    const body = { describe: 'step "look"', onUnhandled: () => {} }
    expect(await runToEnd(body, () => watchCell.watched)).toBe(true)
    stop()
  })
})

describe('the shared memory', () => {
  afterEach(() => {
    watchCell.watched = false
  })
  const holder = () => Atomics.load(watchCell.numbers, at.holder)

  test('is not written without a watchdog', () => {
    const before = Buffer.from(watchCell.memory).toString('hex')
    noteTurn('A-1')
    noteBodyEnd(noteBody('step'))
    expect(Buffer.from(watchCell.memory).toString('hex')).toBe(before)
  })

  test('has room for any name, and for more bodies than slots', () => {
    watchCell.watched = true
    noteTurn('ü'.repeat(10_000))
    expect(holder()).toBe(0)
    const notes = Array.from({ length: 100 }, (_, index) => {
      const note = noteBody(`${index} ${'x'.repeat(10_000)}`)
      expect(holder()).toBe(note)
      noteBodyReturned(note)
      return note
    })
    const free = watchCell.free.length
    expect(free).toBe(0)
    for (const note of notes) noteBodyEnd(note)
    expect(new Set(watchCell.free).size).toBe(30)
    expect(holder()).toBe(-1)
  })
})
