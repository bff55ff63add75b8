import type { RunStatus } from '@pawl/server/internal'
import { signal } from '@preact/signals'
import { en } from '../en.ts'
import { type Query, runsHref, withQuery } from '../router.ts'

/** Which runs the list shows. It is in the address of the page. */
export interface RunFilter {
  readonly status: RunStatus | ''
  readonly procedure: string
  readonly tag: string
}

/** The filter of the list. It is kept while a run is looked at, so that the way back leads to the same list. */
export const runFilter = signal<RunFilter>({ status: '', procedure: '', tag: '' })

export function readRunFilter({ status = '', procedure = '', tag = '' }: Query): RunFilter {
  return { status: isStatus(status) ? status : '', procedure, tag }
}

function isStatus(status: string): status is RunStatus {
  return Object.hasOwn(en.runStatuses, status)
}

/** Where the list with a filter is. */
export function runsListHref({ status, procedure, tag }: RunFilter = runFilter.value): string {
  return withQuery(runsHref, {
    ...(status === '' ? {} : { status }),
    ...(procedure.trim() === '' ? {} : { procedure: procedure.trim() }),
    ...(tag.trim() === '' ? {} : { tag: tag.trim() }),
  })
}
