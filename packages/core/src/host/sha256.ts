import { createHash, type Hash as NodeHash } from 'node:crypto'
import type { Hash } from '../base/hash.ts'

export function newSha256(): Hash {
  return new Sha256(createHash('sha256'))
}

class Sha256 implements Hash {
  readonly #hash: NodeHash

  constructor(hash: NodeHash) {
    this.#hash = hash
  }
  update(bytes: Uint8Array): void {
    this.#hash.update(bytes)
  }
  digest(): Uint8Array {
    return this.#hash.copy().digest()
  }
  copy(): Hash {
    return new Sha256(this.#hash.copy())
  }
}
