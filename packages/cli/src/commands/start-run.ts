import { isDeepStrictEqual } from 'node:util'
import { describeNeeds, exampleOf } from '../answers/example.ts'
import { askForValue } from '../answers/form.ts'
import { openTerminal } from '../answers/terminal.ts'
import type { Context } from '../context.ts'
import type { Door, ProcedureJson, RunJson } from '../door/door.ts'
import { CommandError } from '../door/problem.ts'
import { exit } from '../exit.ts'
import { safe, safeJson } from '../output/out.ts'
import { quote } from '../output/quote.ts'

export interface Start {
  readonly procedure: string
  readonly input?: unknown
}

/**
 * Starts a run. If it needs an input and none was given, a person at a terminal is asked for it.
 * @throws CommandError with status 2 that says what is missing, if there is no terminal
 */
export async function startRun(context: Context, door: Door, start: Start): Promise<RunJson> {
  try {
    return await door.post<RunJson>('/runs', start)
  } catch (error) {
    if (!isInvalidInput(error) || 'input' in start) throw error
    const schema = await schemaOf(door, start.procedure)
    if (!context.out.canAsk || schema === undefined) throw inputMissing(error, start.procedure, schema)
    return askForInput(context, door, start, schema)
  }
}

/**
 * Asks until the input is accepted. What was entered is the draft of the next round.
 * @throws CommandError with the refusal if nothing was changed since, such as when no part of the schema is a question
 */
async function askForInput(
  { out, signal }: Context,
  door: Door,
  start: Start,
  schema: unknown,
): Promise<RunJson> {
  const terminal = openTerminal(signal)
  let refusal: CommandError | undefined
  for (let input: unknown; ; ) {
    const refused = input
    input = await askForValue(terminal, `Input of ${start.procedure}`, schema, refused)
    if (refusal !== undefined && isDeepStrictEqual(input, refused)) throw refusal
    try {
      return await door.post<RunJson>('/runs', { ...start, input })
    } catch (error) {
      if (!isInvalidInput(error)) throw error
      refusal = error
      for (const { path, message } of error.problem.details?.issues ?? [])
        out.note(out.style('red', safe(`  ${path === '' ? '' : `${path}: `}${message}`)))
    }
  }
}

/** The JSON Schema of the input of the newest version that a worker has; undefined if none is known. */
async function schemaOf(door: Door, procedure: string): Promise<unknown> {
  const { items } = await door.get<{ readonly items: readonly ProcedureJson[] }>('/procedures')
  return items.find(({ name, input }) => name === procedure && input !== undefined)?.input
}

function inputMissing({ problem }: CommandError, procedure: string, schema: unknown): CommandError {
  const needs = schema === undefined ? '' : describeNeeds(schema)
  const example = quote(safeJson(exampleOf(schema)))
  const detail = [
    `Procedure ${procedure} needs an input${needs === '' ? '' : `: ${needs}`}. No run was started.`,
    `Pass it as JSON: \`pawl run ${quote(procedure)} --input ${example}\`.`,
  ].join(' ')
  return new CommandError({ ...problem, detail }, exit.usage)
}

function isInvalidInput(error: unknown): error is CommandError {
  return error instanceof CommandError && error.problem.code === 'input-invalid'
}
