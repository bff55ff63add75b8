import { defineConfig } from 'vitest/config'
import { keepFilesInMemory } from './test/support/temporary-files.ts'

keepFilesInMemory()

// Tests import the packages by name and get their sources: nothing has to be built first.
const conditions = ['@pawl/source']
const onSources = { resolve: { conditions }, ssr: { resolve: { conditions } } }

// Tests of the SQLite store and of killed processes, which run once more with node:sqlite where this Node has it.
const usesSqlite = [
  'packages/storage-sqlite/test/**/*.test.ts',
  'test/{agent-loop,damaged-logs,damaged-rows,family-kills,hooks-killed,stream-kills}.test.ts',
  'test/{channels,consents}-killed.test.ts',
  'test/kill-*.test.ts',
]
const onNodeSqlite = {
  ...onSources,
  extends: true as const,
  test: { name: 'sqlite-node', include: usesSqlite, env: { PAWL_TEST_STORE: 'sqlite-node' } },
}
const hasNodeSqlite = process.getBuiltinModule('node:sqlite') !== undefined

// Two thirds of the time of all tests: `npm test` leaves them out, `npm run test:all` has them.
const long = {
  local: [
    // Processes that are killed again and again.
    'packages/storage-sqlite/test/proofs/**/*.test.ts',
    'packages/testing/test/crash-loops/**/*.test.ts',
    'test/{damaged-logs,damaged-rows,family-kills,hooks-killed,stream-kills}.test.ts',
    'test/{channels,consents}-killed.test.ts',
    'test/kill-*.test.ts',
    'test/loop-held.test.ts',
    'test/worker/crash-loops.test.ts',
    // A command line in a process, a terminal or a browser.
    'packages/cli/test/{check,completion,dev,follow,hooks,kill,prompts,terminal}.test.ts',
    'test/inbox/**/*.test.ts',
    // Compilers, and packages as npm installs them.
    'test/{compiler-leads,packed-install}.test.ts',
    // Many worlds.
    'packages/testing/test/simulation/**/*.test.ts',
  ],
  alone: ['test/inbox/demo.test.ts', 'examples/*/test/**/*.test.ts'],
  postgres: [
    'packages/storage-postgres/test/{connections,crash,failover,open,unknown-outcomes}.test.ts',
    'test/postgres/{siege,takeover}.test.ts',
  ],
}

// Tests that have a process of their own. All others share one, which loads each module once: that is half of their time.
const alone = [
  // They change their process: its globals, its listeners, its modules.
  'packages/core/test/host/**/*.test.ts',
  'test/worker/no-threads.test.ts',
  'test/examples.test.ts',
  // They change it, too, or settle many promises, which the hooks of an engine that was started before would make slow.
  'packages/core/test/kernel/**/*.test.ts',
]

const postgres = ['packages/storage-postgres/test/**/*.test.ts', 'test/postgres/**/*.test.ts']

// What every store has to do for an engine: in memory with all other tests, and once more on each SQL store.
const onEachStore = 'test/stores/**/*.test.ts'
// What survives kills and damage, on SQLite and once more on PostgreSQL.
const onEachSqlStore = {
  short: 'test/{agent-loop,answers-over-http,damaged-logs,damaged-rows}.test.ts',
  long: 'test/{examples,family-kills}.test.ts',
}

// The server serves what is built of the inbox, and the demos, too.
const withInbox = { globalSetup: './test/inbox/support/build.ts' }
// A real server, from npm; TEST_POSTGRES_URL names another one.
const withPostgres = { globalSetup: './test/support/postgres-setup.ts' }
const sharing = { isolate: false }

export default defineConfig({
  test: {
    reporters: ['default', './scripts/closing-line.ts'],
    // Tests wait on events; these limits only end what hangs.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 600_000, interval: 20 } },
    // Many tests wait for other processes: with two, a third of two cores idles.
    maxWorkers: 3,
    projects: [
      {
        ...onSources,
        extends: true,
        test: {
          ...{ name: 'local', ...sharing, ...withInbox },
          include: ['{packages,examples}/*/test/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...postgres, ...alone, ...long.local, ...long.alone],
          typecheck: {
            enabled: true,
            include: ['{packages,examples}/*/test/**/*.test-d.ts', 'test/**/*.test-d.ts'],
            tsconfig: './tsconfig.test.json',
            // The rest of the tree is `npm run check`'s business.
            ignoreSourceErrors: true,
          },
        },
      },
      { ...onSources, extends: true, test: { name: 'alone', include: alone } },
      {
        ...onSources,
        extends: true,
        test: { name: 'sqlite', ...sharing, include: [onEachStore], env: { PAWL_TEST_STORE: 'sqlite' } },
      },
      {
        // The adapter once more, with the earlier major version of the AI SDK.
        resolve: { conditions, alias: [{ find: /^ai(\/.*)?$/, replacement: 'ai-6$1' }] },
        ssr: { resolve: { conditions } },
        extends: true,
        test: { name: 'ai-6', include: ['packages/ai-sdk/test/**/*.test.ts'] },
      },
      ...(hasNodeSqlite ? [onNodeSqlite] : []),
      {
        ...onSources,
        extends: true,
        test: {
          ...{ name: 'postgres', ...sharing, ...withPostgres, env: { PAWL_TEST_STORE: 'postgres' } },
          ...{
            include: [...postgres, onEachStore, onEachSqlStore.short],
            exclude: ['**/node_modules/**', ...long.postgres],
          },
        },
      },
      {
        ...onSources,
        extends: true,
        test: {
          ...{ name: 'long', ...sharing, ...withInbox },
          ...{ include: long.local, exclude: ['**/node_modules/**', ...long.alone] },
        },
      },
      { ...onSources, extends: true, test: { name: 'long-alone', ...withInbox, include: long.alone } },
      {
        ...onSources,
        extends: true,
        test: {
          ...{ name: 'long-postgres', ...sharing, ...withPostgres, env: { PAWL_TEST_STORE: 'postgres' } },
          include: [...long.postgres, onEachSqlStore.long],
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      reporter: ['text', 'html'],
      // A test that fails does not hide the figures.
      reportOnFailure: true,
      thresholds: { lines: 90 },
    },
  },
})
