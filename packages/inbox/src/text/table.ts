import type { Json } from '@pawl/server/internal'
import { isObject } from '../api/json.ts'
import { summaryOf } from './plain.ts'

const mostColumns = 30
const mostRows = 200
const longestCell = 500

export interface TableContent {
  readonly columns: readonly string[]
  readonly rows: readonly { readonly [column: string]: Json }[]
}

/**
 * Returns a plain value as a table, or null if it is none, or if a table would not show all of it: what people approve must not be
 * in a column or behind the end of a cell that is left out.
 */
export function tableOf(value: Json): TableContent | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > mostRows) return null
  if (!value.every(isObject)) return null
  const columns = [...new Set(value.flatMap((row) => Object.keys(row)))]
  if (columns.length > mostColumns) return null
  const isWhole = value.every((row) => Object.values(row).every(fitsCell))
  return isWhole ? { columns, rows: value } : null
}

function fitsCell(value: Json): boolean {
  return isFlat(value) && summaryOf(value).length <= longestCell
}

/** Whether a summary names all parts: it shortens what is nested more deeply. */
function isFlat(value: Json, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth <= 1 && Object.values(value).every((part: Json) => isFlat(part, depth + 1))
}
