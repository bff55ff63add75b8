import { createHmac, timingSafeEqual } from 'node:crypto'

/** What a link permits. It is written in the link itself and signed; nothing of it is stored. */
export interface SignedLink {
  /** The id of the ask. */
  readonly ask: string
  /** The person who answers with it. */
  readonly as: `user:${string}`
  /** Who has made it. Undefined in links of earlier versions. */
  readonly madeBy?: `user:${string}` | `system:${string}` | undefined
  /** The choices it permits; for an approval 'approve' and 'reject'. Undefined: all of the ask. */
  readonly allow?: readonly string[] | undefined
  /** Whether the person must log in before anything is shown. */
  readonly login?: boolean | undefined
  /** Whether it shows the history of the ask. */
  readonly history?: boolean | undefined
  /** In ms since 1970. */
  readonly expiresAt: number
}

/** Signs links with the first key, and verifies them with all. */
export interface LinkSigner {
  urlOf(link: SignedLink): string
  /** Returns null if no key has signed the token: it was altered, or its key was removed. An expired link is returned. */
  read(token: string): SignedLink | null
}

const version = 1

/** The options of links. */
export interface LinkOptions {
  /** The address of the server, as people reach it, with its `basePath`. @example 'https://pawl.example.org' */
  readonly publicUrl: string
  /** The first key signs, all verify; removing one revokes its links. Range: at least 32 characters each. */
  readonly keys: readonly [string, ...string[]]
}

export function linkSigner({ publicUrl, keys }: LinkOptions): LinkSigner {
  const base = publicUrl.replace(/\/$/, '')
  return {
    urlOf({ expiresAt, ...claims }) {
      const payload = Buffer.from(JSON.stringify({ v: version, ...claims, exp: expiresAt })).toString(
        'base64url',
      )
      return `${base}/a/${payload}.${sign(keys[0], payload).toString('base64url')}`
    },
    read(token) {
      const [payload = '', signature = '', ...rest] = token.split('.')
      const given = Buffer.from(signature, 'base64url')
      // Several spellings of base64url mean the same bytes; only one is accepted.
      if (rest.length > 0 || given.toString('base64url') !== signature) return null
      if (!keys.some((key) => isSame(sign(key, payload), given))) return null
      return readClaims(JSON.parse(Buffer.from(payload, 'base64url').toString()))
    },
  }
}

/** Reads what a key has signed. A later version may have signed more. */
function readClaims({
  v,
  exp,
  ...claims
}: Omit<SignedLink, 'expiresAt'> & { readonly v: number; readonly exp: number }): SignedLink | null {
  return v === version ? { ...claims, expiresAt: exp } : null
}

/** The prefix keeps the key from signing anything but links. */
function sign(key: string, payload: string): Buffer {
  return createHmac('sha256', key).update(`pawl link ${payload}`).digest()
}

function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}

const usualMs = 7 * 24 * 60 * 60_000

/** When a link expires. An ask that stays open after its deadline has links that do, too. */
export function linkEnd(
  { dueAt }: { readonly dueAt: Date | undefined },
  now: number,
  lastsMs: number = usualMs,
): number {
  const due = dueAt?.getTime() ?? Number.POSITIVE_INFINITY
  return due > now ? Math.min(now + lastsMs, due) : now + lastsMs
}
