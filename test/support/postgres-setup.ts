import type { TestProject } from 'vitest/node'
import { PostgresServer } from '../../scripts/postgres/server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A database in which tests may create databases and roles. */
    readonly postgresUrl: string
  }
}

/** One server for all test files: the one TEST_POSTGRES_URL names, or a new one that ends with the tests. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['TEST_POSTGRES_URL']
  if (given) {
    console.log('TEST_POSTGRES_URL is set: what stops a server, or changes its settings, is skipped.')
    project.provide('postgresUrl', given)
    return async () => {}
  }
  const server = await PostgresServer.start()
  project.provide('postgresUrl', server.url())
  return () => server.remove()
}
