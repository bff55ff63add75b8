import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Role } from '@pawl/server'
import type { Context } from '../context.ts'
import { CommandError, usageError } from '../door/problem.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { safe } from '../output/out.ts'
import { printRows } from '../output/table.ts'
import { roles } from '../roles.ts'

interface Token {
  readonly hash: string
  readonly actor: string
  readonly names: readonly string[]
  readonly role: Role
  readonly actAs: boolean
  readonly note?: string
}

export interface TokenFlags {
  readonly tokens: string
}
export interface MakeFlags extends TokenFlags {
  readonly role: string
  readonly name?: readonly string[]
  readonly actAs?: boolean
  readonly note?: string
}

/** Makes a token. It is printed once; the file keeps its hash. */
export function makeToken(context: Context, actor: string, flags: MakeFlags): ExitStatus {
  if (!/^user:.+/.test(actor)) throw usageError('The person must be `user:<name>`.')
  if (!roles.includes(flags.role)) throw usageError(`\`--role\` must be one of ${roles.join(', ')}.`)
  const secret = randomBytes(32).toString('base64url')
  const token: Token = {
    hash: createHash('sha256').update(secret).digest('hex'),
    actor,
    names: flags.name ?? [],
    role: flags.role as Role,
    actAs: flags.actAs ?? false,
    ...(flags.note === undefined ? {} : { note: flags.note }),
  }
  const file = resolve(context.surroundings.cwd, flags.tokens)
  write(file, [...read(file), token])
  const { out } = context
  out.print(out.json ? JSON.stringify({ token: secret, actor, role: token.role }) : secret)
  out.note(`  ${file} keeps only its hash: copy the token now.`)
  return exit.done
}

export function listTokens(context: Context, flags: TokenFlags): ExitStatus {
  const known = read(resolve(context.surroundings.cwd, flags.tokens))
  printRows(
    context.out,
    known,
    [
      { title: 'TOKEN', of: ({ hash }) => hash.slice(0, 12) },
      { title: 'ACTOR', of: ({ actor }) => actor },
      { title: 'ROLE', of: ({ role, actAs }) => (actAs ? `${role}, acts for others` : role) },
      { title: 'NAMES', of: ({ names }) => names.join(', ') || '-' },
      { title: 'NOTE', of: ({ note }) => note ?? '' },
    ],
    'No tokens.',
  )
  return exit.done
}

/** Removes the token whose hash begins like this. A running server notices at its next request. */
export function revokeToken(context: Context, prefix: string, flags: TokenFlags): ExitStatus {
  const file = resolve(context.surroundings.cwd, flags.tokens)
  const known = read(file)
  const meant = known.filter(({ hash }) => prefix.length >= 8 && hash.startsWith(prefix))
  if (meant.length !== 1)
    throw new CommandError({
      ...{ type: 'about:blank', title: 'not-found', status: 404, code: 'not-found' },
      detail: `${meant.length} tokens begin with ${prefix}: give at least 8 digits of one. \`pawl token ls\` lists them.`,
    })
  write(
    file,
    known.filter((token) => token !== meant[0]),
  )
  const { out } = context
  if (out.json) out.print(JSON.stringify({ revoked: meant[0]?.actor }))
  else out.note(`  Revoked the token of ${safe(meant[0]?.actor ?? '')}`)
  return exit.done
}

function read(file: string): readonly Token[] {
  if (!existsSync(file)) return []
  let content: unknown
  try {
    content = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw usageError(`${file} is not a token file: ${(error as Error).message}`)
  }
  const { tokens } = (content ?? {}) as { readonly tokens?: unknown }
  if (!Array.isArray(tokens) || !tokens.every(isToken))
    throw usageError(
      `${file} is not a token file: it must hold \`tokens\`, as \`pawl token make\` writes them.`,
    )
  return tokens
}

function isToken(value: unknown): value is Token {
  const { hash, actor, names, role } = (value ?? {}) as Partial<Record<keyof Token, unknown>>
  return (
    typeof hash === 'string' && typeof actor === 'string' && Array.isArray(names) && typeof role === 'string'
  )
}

/** Writes atomically, so that a server never reads a partial file. */
function write(file: string, tokens: readonly Token[]): void {
  const beside = `${file}.${randomUUID()}.tmp`
  try {
    writeFileSync(beside, `${JSON.stringify({ tokens }, null, 2)}\n`, { flag: 'wx', mode: 0o600 })
    renameSync(beside, file)
  } catch (error) {
    throw usageError(`${file} cannot be written: ${(error as Error).message}`)
  }
}
