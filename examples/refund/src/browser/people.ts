import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'

/** A person of the demo, and the key with which their browser logs in. */
export interface Person {
  readonly name: string
  readonly key: string
}

/** Makes keys for Ana and Bob, and the file of their hashes that `tokens()` of the server reads. */
export async function makePeople(file: string): Promise<{ readonly ana: Person; readonly bob: Person }> {
  const ana = { name: 'Ana', key: randomBytes(32).toString('base64url') }
  const bob = { name: 'Bob', key: randomBytes(32).toString('base64url') }
  const tokens = [ana, bob].map(({ name, key }) => ({
    hash: createHash('sha256').update(key).digest('hex'),
    actor: `user:${name.toLowerCase()}`,
    names: ['role:head-of-accounts'],
    role: 'operate',
  }))
  await writeFile(file, JSON.stringify({ tokens }), { mode: 0o600 })
  return { ana, bob }
}
