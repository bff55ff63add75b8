import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

/**
 * One file of a program and all it imports, so that starting it takes plain node a moment: tests that kill
 * hundreds of processes spend their time in what they test. It lies in node_modules for what cannot be bundled.
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
    external: ['better-sqlite3', 'msgpackr-extract', 'pg-native', 'vitest'],
    // What is CommonJS in it asks for Node's own modules.
    banner: {
      js: `import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url)`,
    },
    logLevel: 'error',
  })
  return outfile
}

export async function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'pawl-'))
}
