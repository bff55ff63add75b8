import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createClient, type Store } from '@pawl/core'
import type { Found } from '../config/found.ts'
import { loadProcedures } from '../config/procedures.ts'
import { describeStore, missingFile, toStore } from '../config/store.ts'
import type { Context } from '../context.ts'
import { openRemote } from '../door/remote.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { hideSecrets } from '../output/hide-secrets.ts'
import { safe } from '../output/out.ts'

interface Finding {
  readonly what: string
  readonly ok: boolean
  readonly says: string
}

/** Prints what was found and what said so, and tries each part. */
export async function doctor(context: Context): Promise<ExitStatus> {
  const { config, store, procedures, server, token } = await context.located()
  const findings: Finding[] = [
    { what: 'node', ok: true, says: process.versions.node },
    { what: 'config', ok: true, says: config?.by ?? 'none' },
    await tried('store', `${describeStore(store.value)} (${store.by})`, async () => {
      if (hasNoFile(store, context.surroundings.cwd)) return 'not created yet'
      const client = createClient({ store: await toStore(store.value) })
      try {
        await client.list({ limit: 1 })
      } finally {
        await client.stop()
      }
      return undefined
    }),
    await tried('procedures', `${procedures.value.join(', ') || 'none'} (${procedures.by})`, async () => {
      const found = await loadProcedures(procedures.value)
      return found.map(({ name, version }) => `${name} v${version}`).join(', ')
    }),
    server === undefined
      ? { what: 'server', ok: true, says: 'none: commands use the store' }
      : await tried('server', `${hideSecrets(server.value)} (${server.by})`, async () => {
          const { actor, role } = await openRemote(server.value, token).get<{ actor: string; role: string }>(
            '/me',
          )
          return `${actor}, role ${role}`
        }),
    { what: 'lint', ok: true, says: findLinter(context.surroundings.cwd) },
  ]
  const { out } = context
  if (out.json) out.print(JSON.stringify(findings))
  else
    for (const { what, ok, says } of findings)
      out.print(
        `${ok ? out.style('green', 'ok  ') : out.style('red', 'FAIL')}  ${what.padEnd(10)}  ${safe(says)}`,
      )
  return findings.every(({ ok }) => ok) ? exit.done : exit.unreachable
}

const linter = '@pawl/eslint-plugin'

/** Says whether the project has the rules that find mistakes of procedures. */
export function findLinter(cwd: string): string {
  try {
    createRequire(join(cwd, 'package.json')).resolve(`${linter}/package.json`)
    return linter
  } catch {
    return `none: ${linter} finds mistakes of procedures in the editor`
  }
}

/** Whether the file is yet to be made. In a folder that is not there, it cannot be. */
function hasNoFile(store: Found<Store | string>, cwd: string): boolean {
  const file = missingFile(store, cwd)
  return file !== undefined && existsSync(dirname(file))
}

async function tried(what: string, where: string, attempt: () => Promise<unknown>): Promise<Finding> {
  try {
    const found = await attempt()
    return { what, ok: true, says: typeof found === 'string' ? `${where}: ${found}` : where }
  } catch (error) {
    return { what, ok: false, says: `${where}: ${(error as Error).message}` }
  }
}
