import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Formats a page as `npm run format` does. */
export function formatPage(root: string, file: string, text: string): string {
  const biome = join(root, 'node_modules/.bin/biome')
  const { status, stdout, stderr } = spawnSync(biome, ['format', `--stdin-file-path=${file}`], {
    cwd: root,
    input: text,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${file} cannot be formatted: ${stderr}`)
  return stdout
}
