import type { Context } from '../context.ts'
import { usageError } from '../door/problem.ts'

/**
 * Returns whether the work of a command is left to workers: on a server, or with `--detach`.
 * @throws CommandError with status 2 if `--procedures` names code that would not be used
 */
export async function isLeftToWorkers(
  context: Context,
  { detach = false }: { readonly detach?: boolean },
): Promise<boolean> {
  const { server, procedures } = await context.located()
  const isElsewhere = server !== undefined || detach
  if (isElsewhere && procedures.by === '--procedures')
    throw usageError('With `--detach` or on a server, workers use their own procedures. Omit `--procedures`.')
  return isElsewhere
}
