import type { PawlError } from '../../errors/pawl-error.ts'

/** Thrown instead of an attempt that must not begin. The operation fails with its refusal, without further attempts. */
export class Withheld extends Error {
  readonly refusal: PawlError

  constructor(refusal: PawlError) {
    super(refusal.message)
    this.refusal = refusal
  }
}
