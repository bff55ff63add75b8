/** What is read of a package.json of this repository. */
export interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | Conditions>>
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly scripts?: unknown
  readonly devDependencies?: unknown
}

/** The file of an entry point by condition. */
export interface Conditions {
  readonly '@pawl/source'?: string
  readonly types: string
  readonly default: string
}

/** Dependencies that become part of the bundle: a package uses a small part of them, and none of their types. */
export const inlined: readonly string[] = ['kysely']

/** The licences of what is inlined. */
export const licencesFile = 'LICENSES-INLINED.txt'

/** Returns the manifest that is published: no sources, no scripts, nothing that only tests need, no dependency that is inlined. */
export function publishedManifest(manifest: Manifest): object {
  const { scripts: _scripts, devDependencies: _dev, exports, dependencies = {}, ...kept } = manifest
  const needed = Object.entries(dependencies).filter(([name]) => !inlined.includes(name))
  return {
    ...kept,
    exports: Object.fromEntries(Object.entries(exports).map(([path, to]) => [path, withoutSource(to)])),
    files: ['dist', licencesFile],
    ...(needed.length > 0 && { dependencies: Object.fromEntries(needed) }),
  }
}

function withoutSource(to: string | Conditions): string | object {
  if (typeof to === 'string') return to
  const { '@pawl/source': _source, ...published } = to
  return published
}
