import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Formats pages as `npm run format` does: all of them in one call, since starting the formatter takes longer than a page. */
export function formatPages(root: string, texts: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-pages-'))
  try {
    const files = texts.map((text, index) => {
      const file = join(folder, `${index}.md`)
      writeFileSync(file, text)
      return file
    })
    const biome = join(root, 'node_modules/.bin/biome')
    const options = [`--config-path=${join(root, 'biome.json')}`, '--vcs-enabled=false']
    const { status, stderr } = spawnSync(biome, ['format', '--write', ...options, folder], {
      cwd: root,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`the pages cannot be formatted: ${stderr}`)
    return files.map((file) => readFileSync(file, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
