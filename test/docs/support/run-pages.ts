import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Page } from './pages.ts'
import { programsOf, runProgram, writePrograms } from './programs.ts'

/** Defines a test for each program of the pages, and takes in the tests that stand on them. */
export function runPages(pages: readonly Page[]): void {
  const written = writePrograms(pages.flatMap(programsOf))
  afterAll(written.remove)
  for (const page of pages) {
    const programs = programsOf(page)
    if (programs.length === 0) continue
    describe(page.path, () => {
      let earlier: readonly NodeJS.SignalsListener[] = []
      beforeAll(() => {
        earlier = process.listeners('SIGTERM')
      })
      afterAll(() => endWorkers(earlier))
      for (const program of programs) {
        if (program.isTest)
          describe(`the test of line ${program.line}`, async () => {
            await import(`${written.folder}/${program.file}`)
          })
        else
          test(`the program of line ${program.line} prints what the page says and ends`, async () => {
            const before = { emit: process.emit, workers: process.listenerCount('SIGTERM') }
            await runProgram(written.folder, program)
            // An engine wraps it while it works, and then keeps the process alive; but a worker is there to stay.
            const stays = process.listenerCount('SIGTERM') > before.workers
            if (!stays) expect(process.emit).toBe(before.emit)
          })
      }
    })
  }
}

/** A worker works until it is told to end, as a process manager would tell it: at the end of its page. */
async function endWorkers(earlier: readonly NodeJS.SignalsListener[]): Promise<void> {
  // A library that exits on SIGTERM leaves that to the application if it listens too.
  const application = () => {}
  process.on('SIGTERM', application)
  for (const end of process.listeners('SIGTERM')) {
    if (end === application || earlier.includes(end)) continue
    await end('SIGTERM')
    process.off('SIGTERM', end)
  }
  process.off('SIGTERM', application)
}
