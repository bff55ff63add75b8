import { checkFunction, refuse } from '../../checks/options.ts'
import { recordFailure } from '../../errors/failure.ts'
import type { UpdatePayload } from '../../events/payloads.ts'
import type { UpdateSender } from '../ctx.ts'
import type { IssueOperation, ReplyOperation } from '../operations.ts'
import type { ProcedureDefinition } from '../procedure.ts'
import { readNothing, readValue } from '../results.ts'

type Handler = (input: unknown, call: UpdateSender) => unknown

/** The updates whose handlers have begun, by the numbers of their messages. */
export class BegunUpdates {
  /** Null until there is one. */
  #numbers: Set<number> | null = null

  note(n: number): void {
    this.#numbers ??= new Set()
    this.#numbers.add(n)
  }

  has(n: number): boolean {
    return this.#numbers?.has(n) === true
  }
}

/** What the handlers of a run need. */
interface Handling {
  readonly issue: IssueOperation
  readonly definition: ProcedureDefinition
  /** The names that have a handler. */
  readonly handled: Set<string>
  readonly begun: BegunUpdates
}

/**
 * Handles the updates of a name, one after another: takes the oldest one, calls the handler, and records the reply. Ends
 * when its scope is closed.
 * @throws PawlError 'option-invalid'
 */
export function handleUpdates(handling: Handling, given: unknown, handler: unknown): void {
  const { definition, handled } = handling
  const name = checkUpdate(definition, 'on', given)
  checkFunction(`handler of on '${name}'`, handler)
  if (handled.has(name)) refuse('name of on', name, 'It has a handler already.')
  handled.add(name)
  void handleAll(handling, name, handler as Handler).finally(() => handled.delete(name))
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
async function handleAll({ issue, begun }: Handling, name: string, handler: Handler): Promise<void> {
  try {
    for (;;) {
      const { n, by, input } = (await issue({
        ...{ kind: 'update', name, isPassive: true, read: readValue },
      })) as UpdatePayload
      begun.note(n)
      const outcome = await callHandler(handler, input, { by: by as UpdateSender['by'] })
      await issue({ kind: 'reply', name, n, outcome, read: readNothing })
    }
  } catch {
    // Its update is answered by the end of the run.
  }
}

async function callHandler(
  handler: Handler,
  input: unknown,
  call: UpdateSender,
): Promise<ReplyOperation['outcome']> {
  try {
    return { value: await handler(input, call) }
  } catch (error) {
    return { failure: recordFailure(error) }
  }
}
