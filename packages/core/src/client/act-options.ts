import type { ActOptions } from '../authoring/message-options.ts'
import { checkActor } from '../checks/people.ts'
import { optional, type RowsOf } from '../checks/spec.ts'

/** Reads who makes a call. */
export const actOptions: RowsOf<ActOptions> = { by: optional(checkActor) }
