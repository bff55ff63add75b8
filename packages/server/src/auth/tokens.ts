import { readFileSync, statSync } from 'node:fs'
import { PawlError } from '@pawl/core'
import { z } from 'zod'
import type { Auth, Identity } from '../types.ts'
import { credentialOf, hashOf, isSameHash } from './credentials.ts'
import { roles } from './roles.ts'

const tokenFile = z.strictObject({
  tokens: z.array(
    z.strictObject({
      /** SHA-256 of the token, in hex. */
      hash: z.string().regex(/^[0-9a-f]{64}$/),
      actor: z.templateLiteral(['user:', z.string().min(1)]),
      names: z.array(z.string()).default([]),
      role: z.enum(roles),
      actAs: z.boolean().default(false),
      note: z.string().optional(),
    }),
  ),
})
type TokenFile = z.infer<typeof tokenFile>

/**
 * Reads bearer tokens from a JSON file of hashes, made by `pawl token`. The file is read again when it changes, so that a removed
 * token stops working without a restart. On POSIX its mode must be 0600.
 * @throws PawlError 'option-invalid' if the file cannot be read or used
 * @example createServer({ client, auth: tokens('tokens.json') })
 */
export function tokens(file: string): Auth {
  let known = readTokens(file)
  let changedAt = changeOf(file)
  return (request) => {
    const given = credentialOf(request)
    if (given === null) return null
    const change = changeOf(file)
    if (change !== changedAt) {
      known = readTokens(file)
      changedAt = change
    }
    const hash = hashOf(given)
    const match = known.tokens.filter((token) => isSameHash(token.hash, hash))[0]
    return match === undefined ? null : toIdentity(match)
  }
}

function toIdentity({ actor, names, role, actAs }: TokenFile['tokens'][number]): Identity {
  return { actor, names: names as Identity['names'], role, actAs }
}

/** Size, mode and both times: `utimes` can set the modification time back, but not the change time. */
function changeOf(file: string): string {
  const { mtimeMs, ctimeMs, size } = statSync(file)
  return `${mtimeMs}:${ctimeMs}:${size}`
}

function readTokens(file: string): TokenFile {
  try {
    const { mode } = statSync(file)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new Error(`its mode is 0${(mode & 0o777).toString(8)}: run \`chmod 600 ${file}\``)
    return tokenFile.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    const cause = error as Error
    throw new PawlError(
      'option-invalid',
      { option: 'file of tokens', given: file },
      {
        what: `The token file ${file} cannot be used: ${cause.message}.`,
        remedy: 'Create it with `pawl token`.',
        cause,
      },
    )
  }
}
