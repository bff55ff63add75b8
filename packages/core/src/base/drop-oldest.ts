/** Deletes the oldest entries of a map that has more than `max`. */
export function dropOldest<Key>(map: Map<Key, unknown>, max: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= max) return
    map.delete(oldest)
  }
}
