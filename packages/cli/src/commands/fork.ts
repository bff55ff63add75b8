import { readJson } from '../answers/read-answer.ts'
import type { Context } from '../context.ts'
import { type PreviewJson, type RunJson, segmentOf } from '../door/door.ts'
import { usageError } from '../door/problem.ts'
import { type ExitStatus, exit } from '../exit.ts'
import { type Out, safe } from '../output/out.ts'
import { type Column, printRows } from '../output/table.ts'

export interface ForkFlags {
  readonly at?: string
  readonly checkpoint?: string
  readonly edit?: readonly string[]
  readonly id?: string
  readonly preview?: boolean
}

/** Starts a run that shares the past of another one, or says what it would do again. */
export async function fork(context: Context, run: string, flags: ForkFlags): Promise<ExitStatus> {
  const { out, surroundings } = context
  const place = readPlace(flags)
  const edits = (flags.edit ?? []).map((text) => readEdit(text, surroundings.cwd))
  const body = { ...place, ...(edits.length === 0 ? {} : { edit: Object.fromEntries(edits) }) }
  const door = await context.door()
  const path = `/runs/${segmentOf(run)}/fork`
  // A person adds the flag to a whole command; the id of the new run in it is ignored.
  if (flags.preview === true) return printPreview(out, await door.post<PreviewJson>(`${path}/preview`, body))
  const made = await door.post<RunJson>(path, {
    ...body,
    ...(flags.id === undefined ? {} : { id: flags.id }),
  })
  if (out.json) out.print(JSON.stringify(made))
  else {
    out.note(`  Run ${safe(run)} is forked ${nameOf(place)}: ${made.status}`)
    out.print(safe(made.id))
  }
  return exit.done
}

type Place = { readonly position: number } | { readonly checkpoint: string }

function readPlace({ at, checkpoint }: ForkFlags): Place {
  if (at !== undefined && checkpoint !== undefined)
    throw usageError('Pass `--at` or `--checkpoint`, not both: a fork leaves its original at one place.')
  if (at !== undefined) return { position: readPosition('--at', at) }
  if (checkpoint !== undefined) return { checkpoint }
  throw usageError(
    'Pass the place to fork at: a position, such as `--at 3`, or a checkpoint, such as `--checkpoint 5f0c19d2a7b3e864`.',
  )
}

function nameOf(place: Place): string {
  return 'position' in place ? `at position ${place.position}` : `from checkpoint ${safe(place.checkpoint)}`
}

const columns: readonly Column<PreviewJson['operations'][number]>[] = [
  { title: 'POSITION', of: ({ position }) => String(position) },
  { title: 'TYPE', of: ({ type }) => type },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'DOES', of: ({ does }) => does },
  { title: 'BECOMES', of: ({ becomes }) => becomes },
]

/** Prints what is done again. What is kept is only counted. */
export function printPreview(out: Out, preview: PreviewJson): ExitStatus {
  if (out.json) {
    out.print(JSON.stringify(preview))
    return exit.done
  }
  const { kept, operations, more, undone, children } = preview
  out.note(`  Results that are kept: ${kept}`)
  printRows(out, operations, columns, '  Nothing is done again.')
  if (more > 0) out.note(`  ... and ${more} more`)
  if (children.length > 0)
    out.note(
      `  Children, which continue with a retry, and which a fork replaces by its own: ${children.map(safe).join(', ')}`,
    )
  if (undone.length > 0)
    out.note(`  ${out.style('yellow', 'Undone since, and kept as done:')} ${undone.map(safe).join(', ')}`)
  return exit.done
}

function readPosition(flag: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw usageError(`\`${flag}\` needs a position, such as 3, not '${text}'.`)
  return Number(text)
}

/** `3={"approved":false}`: the position, and the result that replaces the recorded one. */
function readEdit(text: string, folder: string): readonly [number, unknown] {
  const [, position, value] = /^(\d{1,9})=(.*)$/s.exec(text) ?? []
  if (position === undefined || value === undefined)
    throw usageError(`\`--edit\` needs a position and JSON, such as \`3={"approved":false}\`, not '${text}'.`)
  return [Number(position), readJson(`--edit ${position}`, value, folder)]
}
