import { defineConfig } from 'vitest/config'
import { keepFilesInMemory } from './test/support/temporary-files.ts'

keepFilesInMemory()

// The long versions of the tests, tens of thousands of kills and races, and the coverage: on demand (`npm run torture`).
const conditions = ['@pawl/source']

// For what needs a database but no server of its own.
const globalSetup = './test/support/postgres-setup.ts'
const onSources = { resolve: { conditions }, ssr: { resolve: { conditions } }, extends: true as const }
// The tests of `test/stores` that count rounds play many more of them here.
const onEachStore = ['test/stores/**/*.torture.ts', 'test/stores/{cancelling,delete-races,races}.test.ts']
// On SQLite with all others, and once more on PostgreSQL.
const onEachSqlStore = [
  'test/{agent-loop,answers-over-http,stream-kills}.torture.ts',
  'test/{channels,consents,hooks,lives}-killed.torture.ts',
]

export default defineConfig({
  test: {
    reporters: ['verbose', './scripts/closing-line.ts'],
    // One after the other: each wants the machine for itself.
    fileParallelism: false,
    testTimeout: 4 * 3_600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 600_000, interval: 20 } },
    passWithNoTests: true,
    projects: [
      {
        ...onSources,
        test: {
          ...{ name: 'torture', globalSetup },
          include: ['{packages,examples}/*/test/**/*.torture.ts', 'test/**/*.torture.ts'],
          exclude: ['**/node_modules/**', 'test/stores/**'],
        },
      },
      ...['memory', 'sqlite', 'postgres'].map((store) => ({
        ...onSources,
        test: {
          name: store,
          globalSetup: store === 'postgres' ? globalSetup : [],
          include: store === 'postgres' ? [...onEachStore, ...onEachSqlStore] : onEachStore,
          env: { PAWL_TEST_STORE: store, ROUNDS: process.env['ROUNDS'] ?? '1000' },
        },
      })),
    ],
  },
})
