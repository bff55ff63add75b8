import { checkFunction, refuse } from '../../checks/options.ts'
import { recordFailure } from '../../errors/failure.ts'
import type { UpdatePayload } from '../../events/payloads.ts'
import type { IssueOperation, ReplyOperation } from '../operations.ts'
import type { ProcedureDefinition } from '../procedure.ts'
import { readNothing, readValue } from '../results.ts'

type Handler = (input: unknown) => unknown

/**
 * Handles the updates of a name, one after another: takes the oldest one, calls the handler, and records the reply. Ends
 * when its scope is closed. `handled`: the names that have a handler.
 * @throws PawlError 'option-invalid'
 */
export function handleUpdates(
  issue: IssueOperation,
  definition: ProcedureDefinition,
  handled: Set<string>,
  given: unknown,
  handler: unknown,
): void {
  const name = checkUpdate(definition, 'on', given)
  checkFunction(`handler of on '${name}'`, handler)
  if (handled.has(name)) refuse('name of on', name, 'It has a handler already.')
  handled.add(name)
  void handleAll(issue, name, handler as Handler).finally(() => handled.delete(name))
}

/** Returns the name of a declared update. `of`: the method that it was passed to. @throws PawlError 'option-invalid' */
export function checkUpdate(
  { name: procedure, updates }: ProcedureDefinition,
  of: string,
  name: unknown,
): string {
  if (typeof name === 'string' && updates?.has(name) === true) return name
  const declared = updates === undefined || updates.size === 0 ? 'no updates' : [...updates.keys()].join(', ')
  return refuse(`name of ${of}`, name, `Procedure '${procedure}' declares ${declared}.`)
}

/** An operation of a closed scope is rejected: nothing is handled any more. */
async function handleAll(issue: IssueOperation, name: string, handler: Handler): Promise<void> {
  try {
    for (;;) {
      const { n, input } = (await issue({
        ...{ kind: 'update', name, isPassive: true, read: readValue },
      })) as UpdatePayload
      const outcome = await callHandler(handler, input)
      await issue({ kind: 'reply', name, n, outcome, read: readNothing })
    }
  } catch {
    // Its update is answered by the end of the run.
  }
}

async function callHandler(handler: Handler, input: unknown): Promise<ReplyOperation['outcome']> {
  try {
    return { value: await handler(input) }
  } catch (error) {
    return { failure: recordFailure(error) }
  }
}
