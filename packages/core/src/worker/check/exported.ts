import type { Sha256 } from '../../base/hash.ts'
import { checkArray, refuse } from '../../checks/options.ts'
import { readOptions, required } from '../../checks/spec.ts'
import type { LogEvent } from '../../events/event.ts'
import type { ExportHeader } from '../../runs/export/format.ts'
import { readExport } from '../../runs/export/read.ts'
import type { Checkable } from './check-runs.ts'

/** Returns the exported runs of a filter. @throws PawlError 'option-invalid', 'export-invalid' */
export async function readExported(
  sha256: Sha256,
  filter: { readonly exports?: unknown },
): Promise<readonly Checkable[]> {
  const label = 'a filter of check with exports'
  const { exports } = readOptions('of check', filter, { exports: required(checkArray) }, label)
  const runs: Checkable[] = []
  for (const [index, file] of exports.entries()) {
    if (!(file instanceof Uint8Array)) refuse(`exports[${index}] of check`, file, 'It must be a Uint8Array.')
    runs.push(await checkableIn(sha256, file))
  }
  return runs
}

/** Verifies the file to its end, so that nothing of a damaged one is replayed. */
async function checkableIn(sha256: Sha256, file: Uint8Array): Promise<Checkable> {
  let header: ExportHeader | null = null
  for await (const part of readExport(sha256, [file])) if (part.kind === 'header') header = part.header
  const { id, procedure, version, base, head } = header as ExportHeader
  return { run: id, procedure, version, log: { head, pages: () => readPresent(sha256, file, base) } }
}

/** Yields the events of the present generation. */
async function* readPresent(
  sha256: Sha256,
  file: Uint8Array,
  base: number,
): AsyncGenerator<readonly LogEvent[]> {
  for await (const part of readExport(sha256, [file])) {
    if (part.kind !== 'events') continue
    const events = part.events.filter(({ seq }) => seq >= base)
    if (events.length > 0) yield events
  }
}
