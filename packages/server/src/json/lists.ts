import { z } from 'zod'

/**
 * A list in a request. Its length is checked before its items: of a million wrong ones zod would describe each, and keep the event
 * loop and a gigabyte of memory busy with it.
 */
export function boundedList<Item extends z.ZodType>(
  item: Item,
  { min = 0, max }: { min?: number; max: number },
) {
  const isShort = (given: unknown): boolean =>
    Array.isArray(given) && given.length >= min && given.length <= max
  const list = z.array(item).max(max)
  const { $schema: _, ...shown } = z.toJSONSchema(min === 0 ? list : list.min(min), { io: 'input' })
  return z
    .custom<z.input<Item>[]>(isShort, `Invalid input: expected a list of ${min} to ${max} items`)
    .pipe(list)
    .meta(shown)
}
