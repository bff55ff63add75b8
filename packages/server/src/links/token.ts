import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Identity, LinkOptions } from '../types.ts'

/** What a link permits. It is written in the link itself and signed; the server stores nothing of it. */
export interface Link {
  /** The id of the ask. */
  readonly ask: string
  /** The person who answers with it. */
  readonly as: Identity['actor']
  /** The choices it permits; for an approval 'approve' and 'reject'. Undefined: all of the ask. */
  readonly allow?: string[] | undefined
  /** Whether the person must log in before anything is shown. */
  readonly login?: boolean | undefined
  /** In ms since 1970. */
  readonly expiresAt: number
}

const version = 1

const written = z.strictObject({
  v: z.literal(version),
  ask: z.string(),
  as: z.templateLiteral(['user:', z.string().min(1)]),
  allow: z.array(z.string()).optional(),
  login: z.boolean().optional(),
  exp: z.number(),
})

/** Signs links with the first key, and verifies them with all. */
export interface LinkSigner {
  urlOf(link: Link): string
  /** Returns null if no key has signed the token: it was altered, or its key was removed. An expired link is returned. */
  read(token: string): Link | null
}

export function linkSigner({ publicUrl, keys }: LinkOptions): LinkSigner {
  const base = publicUrl.replace(/\/$/, '')
  return {
    urlOf({ ask, as, allow, login, expiresAt }) {
      const claims = { v: version, ask, as, allow, login, exp: expiresAt } satisfies z.infer<typeof written>
      const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
      return `${base}/a/${payload}.${sign(keys[0], payload).toString('base64url')}`
    },
    read(token) {
      const [payload = '', signature = '', ...rest] = token.split('.')
      const given = Buffer.from(signature, 'base64url')
      // Several spellings of base64url mean the same bytes; only one is accepted.
      if (rest.length > 0 || given.toString('base64url') !== signature) return null
      if (!keys.some((key) => isSame(sign(key, payload), given))) return null
      const { ask, as, allow, login, exp } = written.parse(
        JSON.parse(Buffer.from(payload, 'base64url').toString()),
      )
      return { ask, as, allow, login, expiresAt: exp }
    },
  }
}

/** The prefix keeps the key from signing anything but links. */
function sign(key: string, payload: string): Buffer {
  return createHmac('sha256', key).update(`pawl link ${payload}`).digest()
}

function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
