/** Maximum rows per statement. More rows bring no gain. */
const maxItems = 1_000
/** Maximum bytes per statement. They are doubled on the wire and multiplied in memory on both sides. */
const maxBytes = 8 * 2 ** 20

/** Divides a list, in order, into batches one statement can carry. */
export function divide<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
): readonly (readonly Item[])[] {
  const batches: Item[][] = []
  let batch: Item[] = []
  let bytes = 0
  for (const item of items) {
    const size = sizeOf(item)
    if (batch.length >= maxItems || (batch.length > 0 && bytes + size > maxBytes)) {
      batches.push(batch)
      batch = []
      bytes = 0
    }
    batch.push(item)
    bytes += size
  }
  return batch.length > 0 ? [...batches, batch] : batches
}
