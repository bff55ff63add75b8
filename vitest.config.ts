import { defineConfig } from 'vitest/config'

// Tests import the packages by name and get their sources: nothing has to be built first.
const conditions = ['@pawl/source']
const onSources = { resolve: { conditions }, ssr: { resolve: { conditions } } }

const needsPostgres = 'packages/storage-postgres/test/**'

export default defineConfig({
  test: {
    projects: [
      {
        ...onSources,
        test: {
          name: 'local',
          include: ['{packages,examples}/*/test/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [needsPostgres, '**/node_modules/**'],
          typecheck: {
            enabled: true,
            include: ['{packages,examples}/*/test/**/*.test-d.ts', 'test/**/*.test-d.ts'],
            tsconfig: './tsconfig.test.json',
          },
        },
      },
    ],
  },
})
