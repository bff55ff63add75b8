import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Context } from '../context.ts'
import { type ExitStatus, exit } from '../exit.ts'

export function version({ out }: Context): ExitStatus {
  const version = readVersion()
  const { node } = process.versions
  out.print(out.json ? JSON.stringify({ version, node }) : `pawl ${version}\nnode ${node}`)
  return exit.done
}

/** Returns the version of the installed package. */
export function readVersion(): string {
  const file = createRequire(import.meta.url).resolve('@pawl/cli/package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
}
