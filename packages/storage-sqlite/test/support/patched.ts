import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** Replaces a function of node:fs/promises, until it is disposed of. */
export function patched<Name extends 'link' | 'open'>(
  name: Name,
  by: (typeof fs.promises)[Name],
): Disposable {
  const original = fs.promises[name]
  fs.promises[name] = by
  syncBuiltinESMExports()
  return {
    [Symbol.dispose]() {
      fs.promises[name] = original
      syncBuiltinESMExports()
    },
  }
}
