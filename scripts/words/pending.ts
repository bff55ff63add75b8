/** Paths that still contain banned phrases. `npm run check` skips them; remove a path once it is clean, and never add one. */
export const pendingPaths: readonly string[] = ['packages/storage-postgres', 'packages/storage-sqlite']
