import { relative } from 'node:path'
import { readJson } from '../answers/read-answer.ts'
import type { Context } from '../context.ts'
import type { Door } from '../door/door.ts'
import { CommandError } from '../door/problem.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { safe } from '../output/out.ts'
import { isLeftToWorkers } from './elsewhere.ts'
import { printEntries } from './follow.ts'
import { readDuration } from './numbers.ts'
import { startRun } from './start-run.ts'
import { reportRun, watchRun } from './watch-run.ts'

export interface RunFlags {
  readonly input?: string
  readonly id?: string
  readonly tag?: readonly string[]
  readonly detach?: boolean
  readonly timeout?: string
  readonly cancelAfter?: string
  readonly follow?: boolean
}

/** Starts a run and works on it until it ends or is suspended. */
export async function run(context: Context, procedure: string, flags: RunFlags): Promise<ExitStatus> {
  const { out, signal, surroundings } = context
  const body = {
    procedure,
    ...(flags.input === undefined ? {} : { input: readJson('--input', flags.input, surroundings.cwd) }),
    ...(flags.id === undefined ? {} : { id: flags.id }),
    ...(flags.tag === undefined || flags.tag.length === 0 ? {} : { tags: flags.tag }),
    ...(flags.cancelAfter === undefined ? {} : { timeout: flags.cancelAfter }),
  }
  const timeoutMs = flags.timeout === undefined ? undefined : readDuration('--timeout', flags.timeout)
  const isElsewhere = await isLeftToWorkers(context, flags)
  if (!isElsewhere && !out.json) {
    const { procedures } = await context.located()
    const files = procedures.value.map((file) => safe(relative(surroundings.cwd, file)))
    out.note(`  Loading ${files.join(', ') || 'procedures'}...`)
  }
  context.engineLog.hold()
  const door = isElsewhere ? await context.door({ creates: true }) : await workingDoor(context, procedure)
  const started = await startRun(context, door, body)
  context.engineLog.leaveOut(started.id)
  if (!out.json) out.note(`  Running ${safe(started.id)}...`)
  if (flags.detach === true) {
    out.print(out.json ? JSON.stringify({ run: started }) : safe(started.id))
    return exit.done
  }
  const watched = watchRun(door, started.id, { signal, timeoutMs })
  if (flags.follow === true) await printEntries(context, door, started.id, watched)
  return reportRun(context, door, await watched)
}

/** Works on the store, if it has the procedure: without it the run would wait for another worker. */
async function workingDoor(context: Context, procedure: string): Promise<Door> {
  const { names, door } = await context.working()
  if (names.includes(procedure)) return door
  throw new CommandError({
    ...{ type: 'about:blank', title: 'procedure-unknown', status: 404, code: 'procedure-unknown' },
    detail: `There is no procedure ${procedure}. There are: ${[...new Set(names)].join(', ')}.`,
  })
}
