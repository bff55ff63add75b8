import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { build, type Metafile } from 'esbuild'
import { inlined, licencesFile, type Manifest } from './manifest.ts'

interface Bundled {
  /** Folder of the package in this repository. */
  readonly source: string
  /** Folder to write to. */
  readonly target: string
  readonly name: string
  readonly manifest: Manifest
  /** Paths below `src`, without extension. */
  readonly entries: readonly string[]
}

/**
 * Bundles the entry points of a package. What several of them use, and what is imported lazily, becomes a chunk
 * `pawl-<package>-<hash>.js`, so a module exists once whichever entry point loads it. Source maps are linked and carry their
 * sources, which are not in the package.
 */
export async function bundle({ source, target, name, manifest, entries }: Bundled): Promise<void> {
  const { dependencies = {}, peerDependencies = {} } = manifest as Manifest & {
    readonly peerDependencies?: Readonly<Record<string, string>>
  }
  const external = Object.keys({ ...dependencies, ...peerDependencies }).filter(
    (one) => !inlined.includes(one),
  )
  const outdir = join(target, 'dist')
  const { metafile } = await build({
    entryPoints: entries.map((entry) => join(source, 'src', `${entry}.ts`)),
    outbase: join(source, 'src'),
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    chunkNames: `pawl-${name}-[hash]`,
    external: [...external, ...external.map((one) => `${one}/*`)],
    sourcemap: 'linked',
    legalComments: 'none',
    logLevel: 'error',
    metafile: true,
  })
  const outputs = Object.keys(metafile.outputs).map((path) => resolve(path))
  for (const file of outputs.filter((path) => path.endsWith('.map'))) await nameSources(file, source, target)
  await writeLicences(metafile, target)
}

/** Names the sources as they lie beside `dist` in this repository, wherever the package is staged. */
async function nameSources(file: string, source: string, target: string): Promise<void> {
  const map = JSON.parse(await readFile(file, 'utf8')) as { sources: readonly string[] }
  const named = map.sources.map((path) => {
    const below = relative(source, resolve(dirname(file), path))
    const module = /node_modules\/(.+)$/.exec(below)?.[1]
    return relative(dirname(file), join(target, module === undefined ? below : `node_modules/${module}`))
  })
  await writeFile(file, JSON.stringify({ ...map, sources: named }))
}

/** Writes the licences of what was inlined. */
async function writeLicences({ inputs }: Metafile, target: string): Promise<void> {
  const folders = new Set(
    Object.keys(inputs).flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
  )
  const texts = await Promise.all(
    [...folders].map(async (folder) => {
      const { name, version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
        readonly name: string
        readonly version: string
      }
      return `${name} ${version}\n\n${await readFile(join(folder, 'LICENSE'), 'utf8')}`
    }),
  )
  if (texts.length > 0) await writeFile(join(target, licencesFile), texts.join('\n'))
}
