import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { usageError } from '../door/problem.ts'

/**
 * Refuses a config that was found, and not named, if another user may have put it there: it would be executed.
 * @param uid of this process; undefined where the system has none
 * @throws CommandError with status 2 that says how to use it
 */
export function refuseForeign(file: string, cwd: string, uid: number | undefined): void {
  if (uid === undefined) return
  const trusted = [uid, 0, ...(uid === 0 ? [statSync(cwd).uid] : [])]
  const folder = dirname(file)
  const why = !trusted.includes(statSync(file).uid)
    ? 'it belongs to another user'
    : isOpenToAll(folder)
      ? `every user may write to ${folder}`
      : undefined
  if (why === undefined) return
  throw usageError(
    `${file} is not executed: ${why}. Pass \`--config ${file}\` if you trust it, or another config.`,
  )
}

/** Whether every user may replace the files of a folder; where it is sticky, as /tmp is, only their owners may. */
function isOpenToAll(folder: string): boolean {
  const { mode } = statSync(folder)
  return (mode & 0o002) !== 0 && (mode & 0o1000) === 0
}
