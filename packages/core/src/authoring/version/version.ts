import { checkName, checkWhole, refuse } from '../../checks/options.ts'

/** A call of `ctx.version`. */
export interface Change {
  readonly name: string
  readonly offered: readonly number[]
}

const maxBranch = 2 ** 31 - 1

/** Reads the arguments of `ctx.version`. @throws PawlError 'option-invalid' */
export function readChange(change: unknown, versions: readonly unknown[]): Change {
  const name = checkName('change of version', change)
  const offered = versions.map((one) => checkWhole(`a version of '${name}'`, one, 1, maxBranch))
  if (offered.length < 2 || offered.some((one, index) => index > 0 && one <= (offered[index - 1] as number)))
    refuse(`versions of '${name}'`, versions, 'Pass at least two numbers in ascending order.')
  return { name, offered }
}
