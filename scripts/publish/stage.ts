import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { bundle } from './bundle.ts'
import { copyDeclarations } from './declarations.ts'
import { type Manifest, publishedManifest } from './manifest.ts'

/** The size of a staged package, before it is packed. */
interface Size {
  readonly files: number
  readonly bytes: number
}

/**
 * Writes the package that the last folder of `target` names as it is published: bundled entry points with shared chunks, their
 * types, and a manifest without what only this repository needs. Reads the types from `dist`, so `tsc -b` has to come first.
 */
export async function stage(root: string, target: string): Promise<Size> {
  const name = basename(target)
  const source = join(root, 'packages', name)
  const manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as Manifest
  await rm(target, { recursive: true, force: true })
  await mkdir(target, { recursive: true })
  for (const file of ['LICENSE', 'README.md']) await copyIfThere(join(source, file), join(target, file))
  const entries = entriesOf(manifest)
  if (entries.length === 0) await cp(join(source, 'dist'), join(target, 'dist'), { recursive: true })
  else {
    await bundle({ source, target, name, manifest, entries })
    await copyDeclarations(source, target, entries)
  }
  await writeFile(join(target, 'package.json'), `${JSON.stringify(publishedManifest(manifest), null, 2)}\n`)
  return await measure(target)
}

/** Returns the entry points as paths below `src`, without extension: `index`, `conformance/store-conformance`. */
function entriesOf({ exports, bin }: Manifest): readonly string[] {
  const modules = Object.values(exports).flatMap((to) => (typeof to === 'string' ? [] : [to.default]))
  return [...modules, ...Object.values(bin ?? {})].map((path) =>
    path.replace(/^(?:\.\/)?dist\/(.+)\.js$/, '$1'),
  )
}

async function copyIfThere(from: string, to: string): Promise<void> {
  await cp(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

async function measure(folder: string): Promise<Size> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  )
  return { files: files.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
}
