import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run's output with `N passed, N failed, N skipped` on a line of its own, for programs that read it. */
export default class ClosingLine implements Reporter {
  async onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): Promise<void> {
    const count = { passed: 0, failed: errors.length, skipped: 0 }
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      for (const test of tests) {
        const { state } = test.result()
        if (state !== 'pending') count[state] += 1
      }
      // A file that cannot be loaded, or a hook that throws, fails without a failed test.
      const isBroken = module.state() === 'failed' && !tests.some((test) => test.result().state === 'failed')
      if (isBroken) count.failed += 1
    }
    await afterOtherReporters()
    console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
  }
}

/** The summary of vitest's own reporter is written in the same turn as this one's. */
const afterOtherReporters = () => new Promise((resolve) => setTimeout(resolve, 20))
