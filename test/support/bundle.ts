import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

/**
 * One file of a program and the packages' sources, so that starting it takes plain node a moment: tests that
 * kill hundreds of processes spend their time in what they test. It lies beside node_modules for what is external.
 */
export async function bundle(program: string): Promise<string> {
  const root = new URL('../../', import.meta.url).pathname
  const folder = await mkdtemp(join(root, 'node_modules', '.pawl-test-'))
  const outfile = join(folder, basename(program).replace(/\.ts$/, '.mjs'))
  await build({
    entryPoints: [program],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@pawl/source'],
    external: ['better-sqlite3', 'msgpackr', 'kysely', 'ajv', 'pg', 'zod', 'vitest'],
    logLevel: 'error',
  })
  return outfile
}

export async function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'pawl-'))
}
