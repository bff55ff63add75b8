import { CommanderError } from 'commander'
import { createProgram } from './command-line.ts'
import { type Context, createContext, type Surroundings } from './context.ts'
import { CommandError, usageError } from './door/problem.ts'
import { type ExitStatus, exit } from './exit.ts'
import { createOut, fitLine } from './output/out.ts'

/** Runs one command line, without the name of the program, and returns the status to exit with. */
export async function runCommand(args: readonly string[], surroundings: Surroundings): Promise<ExitStatus> {
  const out = createOut(surroundings, args.includes('--json'), surroundings.env)
  let status: ExitStatus = exit.done
  let context: Context | undefined
  const program = createProgram(surroundings, async (flags, command) => {
    context = createContext(flags, surroundings)
    status = await command(context)
  })
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    status = error instanceof CommanderError ? reportUsage(error) : await report(error)
  } finally {
    await context?.close()
  }
  return status

  /** Commander has explained it on stderr. */
  function reportUsage({ exitCode, code, message }: CommanderError): ExitStatus {
    if (exitCode === 0) return exit.done
    const detail =
      code === 'commander.help' ? 'The command is not complete.' : message.replace(/^error: /, '')
    if (out.json) out.print(JSON.stringify(usageError(detail.replaceAll('\n', ' ')).problem))
    return exit.usage
  }

  async function report(error: unknown): Promise<ExitStatus> {
    const failed = error instanceof CommandError ? error : await fromPawl(error)
    if (out.json) out.print(JSON.stringify((failed ?? fromBug(error)).problem))
    // Node prints it with its place in the code.
    if (failed === undefined) throw error
    if (!out.json)
      out.note(`${out.style('red', 'Error:')} ${fitLine(out, withFlags(failed.message), 'Error: '.length)}`)
    return failed.status
  }
}

/** Names a parameter of the API by its flag. */
function withFlags(message: string): string {
  return message.replaceAll(/\bquery\.(\w+)(?:\.\d+)?: /g, '`--$1`: ')
}

/** Undefined for an error that is not one of Pawl. */
async function fromPawl(error: unknown): Promise<CommandError | undefined> {
  const { PawlError } = await import('@pawl/core')
  if (!PawlError.is(error)) return undefined
  const { code, message, help } = error
  return new CommandError({ type: help, title: code, status: 400, detail: message, code })
}

/** An error that no command expects. */
function fromBug(error: unknown): CommandError {
  const detail = `The command failed: ${String(error)}`
  return new CommandError({ type: 'about:blank', title: 'internal', status: 500, detail, code: 'internal' })
}
