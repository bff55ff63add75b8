import { defineConfig } from 'vitest/config'
import { keepFilesInMemory } from './test/support/temporary-files.ts'

keepFilesInMemory()

// The long versions of the tests, tens of thousands of kills and races, and the coverage: on demand (`npm run torture`).
const conditions = ['@pawl/source']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    reporters: ['verbose', './scripts/closing-line.ts'],
    include: ['{packages,examples}/*/test/**/*.torture.ts', 'test/**/*.torture.ts'],
    // One after the other: each wants the machine for itself.
    fileParallelism: false,
    // For what needs a database but no server of its own.
    globalSetup: './test/support/postgres-setup.ts',
    testTimeout: 4 * 3_600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 600_000, interval: 20 } },
    passWithNoTests: true,
  },
})
