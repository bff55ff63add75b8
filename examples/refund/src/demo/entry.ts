import type { ExecutionLog } from '@pawl/core'

/** An entry of the execution log. */
export type Entry = ExecutionLog['execution_log'][number]
