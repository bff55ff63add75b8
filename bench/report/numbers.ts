/** Three digits that count, with separators between thousands. */
export function show(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

export function nameStore(kind: string): string {
  return { sqlite: 'SQLite', postgres: 'PostgreSQL' }[kind] ?? kind
}
