import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../../packages/inbox')

/** Builds the inbox if a source is newer than what was built. Vitest calls it once, before all tests. */
export default async function buildInbox(): Promise<void> {
  const own = ['src', 'index.html', 'vite.config.ts', 'package.json'].map((name) => join(root, name))
  const ofCore = ['json-schema.ts', 'schemas', 'base'].map((name) => join(root, '../core/src', name))
  const inputs = [...own, ...ofCore]
  if (newest([join(root, 'dist', 'index.html')]) > newest(inputs)) return
  const { build } = await import('vite')
  const { NODE_ENV: before } = process.env
  // Vitest sets it to 'test', and Vite would build for development.
  process.env['NODE_ENV'] = 'production'
  try {
    await build({ configFile: join(root, 'vite.config.ts'), root })
  } finally {
    if (before === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = before
  }
}

function newest(paths: readonly string[]): number {
  const times = paths.flatMap((path): number[] => {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat === undefined) return [0]
    if (!stat.isDirectory()) return [stat.mtimeMs]
    return [newest(readdirSync(path).map((name) => join(path, name)))]
  })
  return Math.max(0, ...times)
}
