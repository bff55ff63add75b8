import type { Json } from '../api/types.ts'
import { LongText, Value } from './value.tsx'

/** A payload in the format its author named. */
export function Formatted({ value }: { readonly value: Json; readonly as?: string | undefined }) {
  return typeof value === 'string' ? <LongText text={value} /> : <Value value={value} />
}
